#include "analyzer/flow/edits/value_uses.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/ir/mnemonics.h"
#include "analyzer/flow/program/function_index.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {

class Search {
 public:
  Search(const Function& function, const Instruction& expression, std::string_view callee)
      : function_(function), expression_(expression), callee_(callee), values_{expression.result} {}

  ValueUses run() {
    BlockId certain = 0;  // the block that is run next after the expression, whatever is decided
    bool behind = false;
    for (BlockId at = 0; at < function_.blocks.size(); ++at) {
      const std::vector<Instruction>& instructions = function_.blocks[at].instructions;
      is_certain_ = behind && at == certain;
      for (const Instruction& each : instructions) {
        look_at(each);
        if (&each != &expression_) continue;
        behind = is_certain_ = true;
        certain = at;
      }
      const bool goes_on = is_certain_ && !instructions.empty() && instructions.back().op == Op::kJump;
      if (goes_on && instructions.back().targets.front() > at) certain = instructions.back().targets.front();
    }
    return uses_;
  }

 private:
  bool takes(const Instruction& instruction) const {
    return std::any_of(instruction.args.begin(), instruction.args.end(),
                       [&](const Argument& argument) { return values_.contains(argument.value); });
  }

  void look_at(const Instruction& each) {
    const bool reads = each.op == Op::kLoad || each.op == Op::kAddress;
    if (reads && each.range.line >= expression_.range.line &&
        std::find(stored_.begin(), stored_.end(), each.place) != stored_.end()) {
      values_.insert(each.result);
    } else if (is_unknown_member(each)) {
      ++uses_.others;
    } else if (takes(each)) {
      count(each);
    } else if (each.op == Op::kStore && is_certain_) {
      std::erase(stored_, each.place);  // what is read there from now on is something else
    }
  }

  void count(const Instruction& each) {
    if (each.op == Op::kStore) {
      stored_.push_back(each.place);
      uses_.others += each.place.base == 0 ? 0 : 1;
    } else if (each.op == Op::kSink && !each.result) {
      return;  // watches the call that follows it, which is the use
    } else if ((each.op == Op::kCall && each.name == callee_) || each.op == Op::kSink) {
      ++uses_.calls;
    } else if (!tells_shape(each)) {
      ++uses_.others;
      uses_.is_returned = uses_.is_returned || each.op == Op::kReturn;
    }
  }

  // A method that the front end knows nothing of: only its text names the variable.
  bool is_unknown_member(const Instruction& each) const {
    if (each.op != Op::kConst || each.range.line < expression_.range.line) return false;
    const auto names_it = [&](const std::string& name) {
      return each.text.starts_with(name + ".") || each.text.starts_with(name + "->");
    };
    const bool variable = std::any_of(stored_.begin(), stored_.end(), [&](const Place& place) {
      return place.path.empty() && names_it(function_.variables.at(place.variable));
    });
    return variable ||
           std::any_of(function_.constants.begin(), function_.constants.end(), [&](const Argument& constant) {
             return values_.contains(constant.value) && names_it(constant.name);
           });
  }

  const Function& function_;
  const Instruction& expression_;
  std::string_view callee_;
  std::set<ValueId> values_;
  std::vector<Place> stored_;
  bool is_certain_ = false;  // that this runs after the expression
  ValueUses uses_;
};

}  // namespace

bool tells_shape(const Instruction& instruction) {
  return instruction.op == Op::kOperator && is_named(Named::kTellsShape, instruction.name);
}

ValueUses uses_of(const Function& function, const Instruction& expression, std::string_view callee) {
  return Search(function, expression, callee).run();
}

namespace {

bool may_run(const Instruction& call, const Function& function) {
  if (call.op != Op::kCall || !call.result) return false;
  if (call.name == function.key) return true;
  // Each names what it asks the object for, and then the function that is likely.
  const bool is_by_name = call.name.starts_with(kAttributeCall) || call.name.starts_with(kVirtualCall);
  const std::size_t scope = call.name.find("::") + 2;
  return is_by_name && (call.name.ends_with("::" + function.key) ||
                        std::string_view(call.name).substr(scope) == method_name(function));
}

bool is_result_used_once(const Module& module, const Function& function, int depth) {
  constexpr int kMostCallers = 4;  // one above the other
  if (depth == kMostCallers) return false;
  for (const Function& caller : module.functions) {
    for (const Block& block : caller.blocks) {
      for (const Instruction& each : block.instructions) {
        if (!may_run(each, function)) continue;
        const ValueUses uses = uses_of(caller, each, "");
        if (uses.calls + uses.others > 1) return false;
        if (uses.is_returned && !is_result_used_once(module, caller, depth + 1)) return false;
      }
    }
  }
  return true;
}

}  // namespace

bool is_result_used_once(const Module& module, const Function& function) {
  return is_result_used_once(module, function, 0);
}

bool is_moved_from(const Module& module, const Function& function, std::string_view variable,
                   const SourceRange& until, const SourceText& text) {
  if (until.file >= module.files.size() || function.range.file != until.file) return false;
  const std::string* source = text(module.files[until.file]);
  const auto begin = source ? offset_of(*source, function.range.line, function.range.column) : std::nullopt;
  const auto end = source ? offset_of(*source, until.end_line, until.end_column) : std::nullopt;
  if (!begin || !end || *end < *begin) return false;
  std::string body;  // without blanks: "std::move(q)", "std::exchange(q,{})"
  std::copy_if(source->begin() + static_cast<std::ptrdiff_t>(*begin),
               source->begin() + static_cast<std::ptrdiff_t>(*end), std::back_inserter(body),
               [](char c) { return c != ' ' && c != '\t' && c != '\n' && c != '\r'; });
  for (const LibraryName& taker : kLibraryNames) {
    if (taker.as != Named::kMovesFrom) continue;
    const std::string taken = std::string(taker.name) + "(" + std::string(variable);
    for (std::size_t at = body.find(taken); at != std::string::npos; at = body.find(taken, at + 1)) {
      const std::size_t behind = at + taken.size();
      if (behind >= body.size() || !is_word_part(body[behind])) return true;
    }
  }
  return false;
}

}  // namespace dtype_guard::flow
