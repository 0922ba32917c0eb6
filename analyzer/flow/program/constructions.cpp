#include "analyzer/flow/program/constructions.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostMakers = 3;
constexpr std::size_t kMostPlaces = 3;

// Numbers are sizes.
bool tells(const Instruction* made) {
  if (!made) return false;
  if (made->op == Op::kClosure || made->op == Op::kModule || made->op == Op::kObject) return true;
  return made->op == Op::kConst && (std::holds_alternative<bool>(made->constant) ||
                                    std::holds_alternative<std::string>(made->constant));
}

bool is_variable(const Place& place) { return !place.base && place.path.empty(); }

// An object, or a choice that may be one.
bool is_made(const Instruction* given, const FunctionInfo& info) {
  if (!given || given->op != Op::kPhi) return given && (given->op == Op::kModule || given->op == Op::kObject);
  return std::any_of(given->args.begin(), given->args.end(), [&](const Argument& each) {
    const Instruction* one = info.definition(each.value);
    return one && one->op != Op::kPhi && is_made(one, info);
  });
}

// Itself, or something that its variable is given.
bool tells(ValueId argument, const Function& code, const FunctionInfo& info) {
  const Instruction* made = info.definition(argument);
  if (!made || made->op != Op::kLoad || !is_variable(made->place)) return tells(made) || is_made(made, info);
  return std::any_of(code.blocks.begin(), code.blocks.end(), [&](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), [&](const Instruction& each) {
      return each.op == Op::kStore && is_variable(each.place) &&
             each.place.variable == made->place.variable && !each.args.empty() &&
             is_made(info.definition(each.args.front().value), info);
    });
  });
}

// As what it gives back, itself or in a variable.
bool gives_back(const Function& code, const Instruction& made) {
  std::set<ValueId> values = {made.result};
  std::set<VariableId> variables;
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const bool has_it = !each.args.empty() && values.contains(each.args.front().value);
      if (each.op == Op::kReturn && has_it) return true;
      if (each.op == Op::kStore && is_variable(each.place) && has_it) variables.insert(each.place.variable);
      if (each.op == Op::kLoad && is_variable(each.place) && variables.contains(each.place.variable))
        values.insert(each.result);
    }
  }
  return false;
}

bool is_nothing(const Instruction* made) {
  return made && made->op == Op::kConst && std::holds_alternative<None>(made->constant);
}
}  // namespace

const std::vector<Construction>& Constructions::of(const std::string& class_name) const {
  static const std::vector<Construction> none;
  if (!by_class_) {
    by_class_.emplace();
    for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) {
      const Function& code = index_.function(i);
      if (code.foreign || code.kind == FunctionKind::kLambda) continue;
      for (const Instruction* each : index_.effects(i).makes) {
        if (each->result) (*by_class_)[each->name].push_back({i, each});
      }
    }
  }
  const auto found = by_class_->find(class_name);
  return found == by_class_->end() ? none : found->second;
}

Constructions::Says Constructions::says(const Construction& construction) const {
  const FunctionInfo& info = index_.info(construction.function);
  Says out = Says::kNothing;
  for (const Instruction* call : index_.effects(construction.function).runs) {
    const bool makes = call->op == Op::kCall && !call->args.empty() &&
                       call->args.front().value == construction.instruction->result;
    const std::vector<std::uint32_t>& callees = index_.find(call->name);
    if (!makes || callees.empty()) continue;
    const Function& callee = index_.function(callees.front());
    if (callee.kind != FunctionKind::kConstructor) continue;
    for (std::size_t i = 1; i < call->args.size(); ++i) {
      const Instruction* made = info.definition(call->args[i].value);
      const std::optional<std::size_t> at = parameter_for(callee, *call, i);
      const ParameterKind kind = at ? callee.parameters[*at].kind : ParameterKind::kOther;
      const bool takes_dtype = kind == ParameterKind::kDtype || kind == ParameterKind::kOptions;
      if (takes_dtype && !is_nothing(made)) return Says::kDtype;
      if (tells(call->args[i].value, index_.function(construction.function), info)) out = Says::kSomething;
    }
  }
  return out;
}

std::vector<std::uint32_t> Constructions::makers(const std::string& class_name) const {
  std::vector<std::uint32_t> out;
  const auto add = [&](std::uint32_t maker) {
    const bool known = std::find(out.begin(), out.end(), maker) != out.end();
    if (!known && out.size() < kMostMakers) out.push_back(maker);
  };
  const auto is_own =
      [&](const Construction& each) {  // a copy, or what it was asked for with what it was told
        return each.instruction->name == index_.function(each.function).class_name;
      };
  for (const Construction& each : of(class_name)) {
    if (is_own(each)) continue;
    const Says said = says(each);
    const Function& maker = index_.function(each.function);
    if (said == Says::kSomething) add(each.function);
    if (said != Says::kNothing || maker.kind != FunctionKind::kConstructor) continue;
    for (const Construction& outer : of(maker.class_name)) {
      if (!is_own(outer) && says(outer) == Says::kSomething) add(outer.function);
    }
  }
  return out;
}

std::vector<Construction> Constructions::all_of(const std::string& class_name) const {
  const std::vector<Construction>& all = of(class_name);
  const bool are_for_others = std::all_of(all.begin(), all.end(), [&](const Construction& each) {
    return says(each) != Says::kDtype && gives_back(index_.function(each.function), *each.instruction);
  });
  return are_for_others && all.size() <= kMostPlaces ? all : std::vector<Construction>();
}

}  // namespace dtype_guard::flow
