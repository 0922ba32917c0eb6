#include "analyzer/flow/reach.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "analyzer/flow/contractions.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

class Reach {
 public:
  explicit Reach(const FunctionIndex& index)
      : index_(index), callers_(index.module().functions.size()), reaches_(callers_.size()) {
    for (std::uint32_t i = 0; i < callers_.size(); ++i) note(i);
    while (!work_.empty()) {
      const std::uint32_t callee = work_.back();
      work_.pop_back();
      for (const std::uint32_t caller : callers_[callee]) mark(caller);
    }
  }
  bool operator()(std::uint32_t function) const { return reaches_[function]; }

 private:
  void mark(std::uint32_t function) {
    if (reaches_[function]) return;
    reaches_[function] = true;
    work_.push_back(function);
  }

  void note(std::uint32_t id) {
    const Function& function = index_.function(id);
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
        if (each.op == Op::kSink || (op && is_contraction(op->name))) mark(id);
        for (const std::uint32_t callee : index_.may_run(each)) callers_[callee].push_back(id);
      }
    }
    // A root gets its object, and the objects that it is given, from their constructors.
    const auto made = [&](const std::string& class_name) {
      for (const std::uint32_t unit : units_of(function)) {
        for (const std::uint32_t each : index_.constructors(class_name, unit)) callers_[each].push_back(id);
      }
    };
    if (!function.class_name.empty()) made(function.class_name);
    for (const Parameter& each : function.parameters) {
      if (each.kind == ParameterKind::kObject) made(each.type);
    }
  }

  const FunctionIndex& index_;
  std::vector<std::vector<std::uint32_t>> callers_;
  std::vector<bool> reaches_;
  std::vector<std::uint32_t> work_;
};

}  // namespace

std::vector<std::uint32_t> roots_that_reach_sinks(const FunctionIndex& index,
                                                  const std::vector<std::uint32_t>& roots) {
  const Reach reaches(index);
  std::vector<std::uint32_t> out;
  std::copy_if(roots.begin(), roots.end(), std::back_inserter(out), std::cref(reaches));
  return out;
}

}  // namespace dtype_guard::flow
