#include "analyzer/python/imported_reach.h"

#include <algorithm>

#include "rules/operators/operators.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr std::size_t kShort = 150;  // instructions, of all that is called
constexpr std::size_t kMost = 600;   // of what makes dtypes

std::set<ValueId> used_values(const Function& function) {
  std::set<ValueId> out;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.op == Op::kDiscard) continue;
      if (each.place.base) out.insert(each.place.base);
      for (const Argument& argument : each.args) out.insert(argument.value);
    }
  }
  return out;
}

// An operator in place whose result is not used, as initialisers are, leaves each dtype as it was.
bool makes_dtype(const Instruction& instruction, const std::set<ValueId>& used) {
  switch (instruction.op) {
    case Op::kCast:
    case Op::kAlloc:
    case Op::kModule:
    case Op::kRetype:
    case Op::kSetAutocast:
    case Op::kSetDefaultDtype:
    case Op::kSink:
      return true;
    case Op::kRegister:  // of what is assigned to a field, which may be anything, nothing follows
      return instruction.name != "attribute" && instruction.name != "member";
    case Op::kOperator:
      return used.contains(instruction.result) && find_operator(instruction.name);
    default:
      return false;
  }
}
}  // namespace

// "KEY", "attribute::NAME" or "attribute::NAME::KEY".
std::string_view named_function(std::string_view callee) {
  if (!callee.starts_with(kAttributeCall)) return callee;
  callee.remove_prefix(kAttributeCall.size());
  const std::size_t end = callee.find("::");
  return end == std::string_view::npos ? std::string_view() : callee.substr(end + 2);
}

FileLowering& ImportedReach::unit(const SourceFile& file) {
  std::unique_ptr<FileLowering>& out = units_[&file];
  if (!out) out = std::make_unique<FileLowering>(modules_, file, contracts_);
  return *out;
}

const Module& ImportedReach::lowered(const FunctionDefinition& definition) {
  const auto known = lowered_.find(&definition);
  if (known != lowered_.end()) return known->second;
  return lowered_.emplace(&definition, unit(*definition.file).only(definition)).first->second;
}

const ImportedReach::Step& ImportedReach::step(const FunctionDefinition& definition) {
  const auto [known, is_new] = steps_.try_emplace(&definition);
  Step& out = known->second;
  if (!is_new) return out;
  for (const Function& function : lowered(definition).functions) {
    const std::set<ValueId> used = used_values(function);
    for (const Block& block : function.blocks) {
      out.instructions += block.instructions.size();
      for (const Instruction& each : block.instructions) {
        out.makes_dtype = out.makes_dtype || makes_dtype(each, used);
        if (each.op != Op::kCall && each.op != Op::kClosure) continue;
        const auto called = functions_.find(std::string(named_function(each.name)));
        if (called != functions_.end()) out.calls.push_back(called->second);
      }
    }
  }
  return out;
}

bool ImportedReach::is_worth_evaluating(const FunctionDefinition& definition) {
  std::set<const FunctionDefinition*> seen = {&definition};
  std::vector<const FunctionDefinition*> open = {&definition};
  std::size_t instructions = 0;
  bool makes_dtype = false;
  while (!open.empty() && instructions <= kMost) {
    const Step& next = step(*open.back());
    open.pop_back();
    instructions += next.instructions;
    makes_dtype = makes_dtype || next.makes_dtype;
    for (const FunctionDefinition* each : next.calls) {
      if (seen.insert(each).second) open.push_back(each);
    }
  }
  return instructions <= kShort || (makes_dtype && instructions <= kMost);
}

}  // namespace dtype_guard::python
