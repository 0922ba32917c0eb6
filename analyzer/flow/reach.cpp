#include "analyzer/flow/reach.h"

#include <algorithm>
#include <iterator>

#include "analyzer/flow/contractions.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

enum class Along : std::uint8_t { kCallsAndGivenObjects, kCalls };

class Reach {
 public:
  // Of the functions that hold a sink, or of `goals` when they are given.
  explicit Reach(const FunctionIndex& index, const std::vector<std::uint32_t>* goals = nullptr,
                 Along along = Along::kCallsAndGivenObjects)
      : index_(index), along_(along), callers_(index.module().functions.size()), reaches_(callers_.size()) {
    for (std::uint32_t i = 0; i < callers_.size(); ++i) {
      if (note(i) && !goals) mark(i);
    }
    if (goals) std::for_each(goals->begin(), goals->end(), [&](std::uint32_t each) { mark(each); });
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

  // Who its callees are called by; true when it holds a sink.
  bool note(std::uint32_t id) {
    const Function& function = index_.function(id);
    bool sink = false;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
        sink = sink || each.op == Op::kSink || (op && is_contraction(op->name));
      }
    }
    for (const std::uint32_t callee : index_.callees(id)) callers_[callee].push_back(id);
    if (along_ == Along::kCalls) return sink;
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
    return sink;
  }

  const FunctionIndex& index_;
  Along along_;
  std::vector<std::vector<std::uint32_t>> callers_;
  std::vector<bool> reaches_;
  std::vector<std::uint32_t> work_;
};

}  // namespace

std::vector<std::uint32_t> roots_that_reach_sinks(const FunctionIndex& index,
                                                  const std::vector<std::uint32_t>& roots) {
  std::vector<std::uint32_t> out;
  std::copy_if(roots.begin(), roots.end(), std::back_inserter(out), Reach(index));
  return out;
}

std::vector<std::uint32_t> roots_that_run(const FunctionIndex& index, const std::vector<std::uint32_t>& roots,
                                          const std::vector<std::uint32_t>& functions) {
  std::vector<std::uint32_t> out;
  std::copy_if(roots.begin(), roots.end(), std::back_inserter(out), Reach(index, &functions));
  return out;
}

std::vector<std::uint32_t> roots_that_call(const FunctionIndex& index,
                                           const std::vector<std::uint32_t>& roots,
                                           const std::vector<std::uint32_t>& functions) {
  std::vector<std::uint32_t> out;
  std::copy_if(roots.begin(), roots.end(), std::back_inserter(out), Reach(index, &functions, Along::kCalls));
  return out;
}

}  // namespace dtype_guard::flow
