#include "analyzer/flow/look_ahead.h"

#include <algorithm>

#include "analyzer/flow/contractions.h"
#include "analyzer/flow/forms.h"
#include "analyzer/flow/function_info.h"
#include "analyzer/flow/tables.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

// What a value goes into.
using Uses = std::uint8_t;
constexpr Uses kNowhere = 0;
constexpr Uses kProductOf = 1;  // a product of matrices
constexpr Uses kScoresOf = 2;   // a softmax whose result goes into one

const Operator* operator_run_by(const Instruction& instruction) {
  if (instruction.op != Op::kOperator) return nullptr;
  const ModuleType* type =
      instruction.name.ends_with("::forward") ? find_module_type(instruction.name) : nullptr;
  return find_operator(type ? type->forward : instruction.name);
}

bool is_variable(const Place& place) { return place.base == 0 && place.path.empty(); }

class Reading {
 public:
  Reading(const Function& function, const FunctionInfo& info)
      : function_(function),
        info_(info),
        operators_(info.definitions.size()),
        values_(info.definitions.size()),
        at_entry_(function.blocks.size(), std::vector<Uses>(function.variables.size())) {}

  std::vector<ValueId> products() {
    if (!may_hold_attention()) return {};
    do {
      changed_ = false;
      for (auto block = static_cast<BlockId>(function_.blocks.size()); block-- > 0;) read(block);
    } while (changed_);
    std::vector<ValueId> out;
    for (ValueId id = 0; id < values_.size(); ++id) {
      if (values_[id] & kScoresOf && is_product(id)) out.push_back(id);
    }
    return out;
  }

 private:
  bool may_hold_attention() {
    std::size_t products = 0, softmaxes = 0;
    for (ValueId id = 0; id < operators_.size(); ++id) {
      const Instruction* made = info_.definition(id);
      if (!made || !(operators_[id] = operator_run_by(*made))) continue;
      products += is_product(id);
      softmaxes += is_softmax(operators_[id]->name);
    }
    return products > 1 && softmaxes > 0;
  }

  bool is_product(ValueId id) const {
    const Operator* op = operators_[id];
    if (!op || !is_contraction(op->name)) return false;
    return op->name != "einsum" || einsum_kind(*info_.definition(id), info_) == Einsum::kSums;
  }

  void read(BlockId block) {
    const auto& instructions = function_.blocks[block].instructions;
    if (instructions.empty()) return;
    std::vector<Uses> variables(function_.variables.size());
    for (const BlockId next : instructions.back().targets) {
      if (next >= at_entry_.size()) continue;
      for (std::size_t i = 0; i < variables.size(); ++i) variables[i] |= at_entry_[next][i];
    }
    for (auto each = instructions.rbegin(); each != instructions.rend(); ++each) read(*each, variables);
    at_entry_[block] = std::move(variables);
  }

  void read(const Instruction& instruction, std::vector<Uses>& variables) {
    const Uses uses = instruction.result < values_.size() ? values_[instruction.result] : kNowhere;
    switch (instruction.op) {
      case Op::kStore:
        if (!is_variable(instruction.place) || instruction.place.variable >= variables.size()) return;
        add(instruction.args, variables[instruction.place.variable]);
        variables[instruction.place.variable] = kNowhere;
        return;
      case Op::kLoad:
        if (instruction.place.base) {
          add(instruction.place.base, uses);
        } else if (is_variable(instruction.place) && instruction.place.variable < variables.size()) {
          variables[instruction.place.variable] |= uses;
        }
        return;
      case Op::kCast:
        if (!instruction.args.empty()) add(instruction.args.front().value, uses);
        return;
      case Op::kCopy:
      case Op::kPhi:
      case Op::kPack:
        add(instruction.args, uses);
        return;
      case Op::kOperator:
        add(instruction.args, before_operator(instruction, uses));
        return;
      default:
        return;
    }
  }

  // What goes into an operator goes where its result goes, unless it ends or becomes something else there.
  Uses before_operator(const Instruction& instruction, Uses uses) const {
    const Operator* op = instruction.result ? operators_[instruction.result] : operator_run_by(instruction);
    if (!op)
      return instruction.name.ends_with("::forward") && find_module_type(instruction.name) ? uses : kNowhere;
    if (instruction.result ? is_product(instruction.result) : is_contraction(op->name)) return kProductOf;
    if (is_softmax(op->name)) return uses == kNowhere ? kNowhere : kScoresOf;
    const bool ends =
        op->name == "linear" || op->rank == RankRule::kReduce || op->result == ResultRule::kBool;
    return ends ? kNowhere : uses;
  }

  void add(const std::vector<Argument>& arguments, Uses uses) {
    for (const Argument& each : arguments) add(each.value, uses);
  }
  void add(ValueId value, Uses uses) {
    if (value >= values_.size() || (values_[value] | uses) == values_[value]) return;
    values_[value] |= uses;
    changed_ = true;
  }

  const Function& function_;
  const FunctionInfo& info_;
  std::vector<const Operator*> operators_;   // by ValueId
  std::vector<Uses> values_;                 // by ValueId
  std::vector<std::vector<Uses>> at_entry_;  // of each block: its variables
  bool changed_ = false;
};

}  // namespace

std::vector<ValueId> products_before_scores(const Function& function, const FunctionInfo& info) {
  return Reading(function, info).products();
}

}  // namespace dtype_guard::flow
