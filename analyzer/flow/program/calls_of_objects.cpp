#include "analyzer/flow/program/calls_of_objects.h"

#include <algorithm>

#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {
constexpr int kMaxSlice = 64;  // values that are looked at for where one comes from

// Whether a value may be of another dtype than the function was handed: something casts or promotes, or a
// function that may do so gave it.
class MayBeCast {
 public:
  MayBeCast(const Function& code, const FunctionInfo& info) : code_(code), info_(info) {}
  bool operator()(ValueId id) {
    if (!seen_.insert(id).second) return false;
    if (seen_.size() > kMaxSlice) return true;
    const Instruction* by = info_.definition(id);
    if (!by) return false;
    if (by->op == Op::kCast || by->op == Op::kCall || by->op == Op::kSink) return true;
    if (by->op == Op::kOperator) {
      if (is_named(Named::kCountOfShape, by->name)) return false;
      const Operator* op = find_operator(by->name);
      if (!op || op->result != ResultRule::kLikeFirst) return true;
    }
    if (by->op == Op::kLoad && by->place.base == 0 && stored(by->place.variable)) return true;
    return std::any_of(by->args.begin(), by->args.end(),
                       [&](const Argument& each) { return (*this)(each.value); });
  }

 private:
  bool stored(VariableId variable) {
    for (const Block& block : code_.blocks) {
      for (const Instruction& each : block.instructions) {
        const bool here = each.op == Op::kStore && each.place.base == 0 && each.place.variable == variable;
        if (here && !each.args.empty() && (*this)(each.args[0].value)) return true;
        // Who has its address may put anything there.
        if (each.op == Op::kAddress && each.place.base == 0 && each.place.variable == variable) return true;
      }
    }
    return false;
  }
  const Function& code_;
  const FunctionInfo& info_;
  std::set<ValueId> seen_;
};
}  // namespace

bool CallsOfObjects::is_called_with_casts(std::size_t parameters) const {
  if (!called_with_casts_) {
    called_with_casts_.emplace();
    for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) {
      for (const Instruction* each : index_.effects(i).runs) {
        if (each->op != Op::kCall || !each->name.empty() || each->args.empty()) continue;
        MayBeCast may_be_cast(index_.function(i), index_.info(i));
        if (std::any_of(each->args.begin() + 1, each->args.end(),
                        [&](const Argument& one) { return may_be_cast(one.value); }))
          called_with_casts_->insert(each->args.size() - 1);
      }
    }
  }
  return called_with_casts_->contains(parameters);
}

}  // namespace dtype_guard::flow
