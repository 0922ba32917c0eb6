#include "analyzer/flow/roots/reach.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/settings/module_types.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

// A root gets its object, and the objects that it is given, from their constructors.
std::vector<std::uint32_t> constructors_of_given(const FunctionIndex& index, const Function& function) {
  std::vector<std::uint32_t> out;
  const auto made = [&](const std::string& class_name) {
    for (const std::uint32_t unit : units_of(function)) {
      const std::vector<std::uint32_t> here = index.constructors(class_name, unit);
      out.insert(out.end(), here.begin(), here.end());
    }
  };
  if (!function.class_name.empty()) made(function.class_name);
  for (const Parameter& each : function.parameters) {
    if (each.kind == ParameterKind::kObject) made(each.type);
  }
  return out;
}

using Lists = std::vector<std::vector<std::uint32_t>>;

Lists callers_and_given_objects(const FunctionIndex& index) {
  Lists out(index.module().functions.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    for (const std::uint32_t callee : index.callees(i)) out[callee].push_back(i);
    for (const std::uint32_t each : constructors_of_given(index, index.function(i))) out[each].push_back(i);
  }
  return out;
}

Lists callers_by_class(const Program& program) {
  Lists out(program.functions.module().functions.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    for (const std::uint32_t callee : program.calls_by_class.of(i)) out[callee].push_back(i);
  }
  return out;
}

// The functions that lead to one of these.
class Reach {
 public:
  Reach(const Lists& callers, const std::vector<std::uint32_t>& goals)
      : callers_(callers), reaches_(callers.size()) {
    for (const std::uint32_t each : goals) mark(each);
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

  const Lists& callers_;
  std::vector<bool> reaches_;
  std::vector<std::uint32_t> work_;
};

SinkFacts look_at_body(const FunctionIndex& index, std::uint32_t function) {
  SinkFacts out;
  for (const Block& block : index.function(function).blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.op == Op::kSink) out.has_sink = true;
      const ModuleType* module = each.op == Op::kModule ? find_module_type(each.name) : nullptr;
      out.makes_attention = out.makes_attention || (module && !module->contract.empty());
      if (each.op == Op::kClosure) {
        const std::vector<std::uint32_t>& made = index.may_run(each);
        out.closures.insert(out.closures.end(), made.begin(), made.end());
      }
      const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
      if (!op) continue;
      out.makes_sine = out.makes_sine || is_sine(op->name);
      out.has_sink = out.has_sink || (is_contraction(op->name) &&
                                      product_contract(op->name, each, index.info(function)) != nullptr);
    }
  }
  return out;
}

template <typename Has>
std::vector<std::uint32_t> functions_with(const Program& program, Has has) {
  const FunctionIndex& index = program.functions;
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < index.module().functions.size(); ++i) {
    if (has(program.sink_facts.of(i, [&] { return look_at_body(index, i); }))) out.push_back(i);
  }
  return out;
}

template <typename Wanted>
std::vector<std::uint32_t> chosen(const std::vector<std::uint32_t>& roots, const Wanted& wanted) {
  std::vector<std::uint32_t> out;
  std::copy_if(roots.begin(), roots.end(), std::back_inserter(out), std::cref(wanted));
  return out;
}

// What a constructor comes to itself is found where that is a root; of an object that a root is given only
// what it left there to be called counts.
class ReachesSinks {
 public:
  ReachesSinks(const Program& program, const std::vector<std::uint32_t>& sinks)
      : program_(program),
        callers_(callers_by_class(program)),
        calls_(callers_, sinks),
        leaves_(callers_, makers()),
        turns_(callers_, makers_of_sine()) {}
  bool operator()(std::uint32_t root) const {
    const std::vector<std::uint32_t> given =
        constructors_of_given(program_.functions, program_.functions.function(root));
    return calls_(root) || turns_(root) || std::any_of(given.begin(), given.end(), std::cref(leaves_)) ||
           std::any_of(given.begin(), given.end(), std::cref(turns_));
  }

 private:
  // What rotates by hand has its tables from its object or makes them.
  std::vector<std::uint32_t> makers_of_sine() const {
    return functions_with(program_, [](const SinkFacts& each) { return each.makes_sine; });
  }
  // Of lambdas that reach one, and of modules whose forward has a contract.
  std::vector<std::uint32_t> makers() const {
    return functions_with(program_, [&](const SinkFacts& each) {
      return each.makes_attention ||
             std::any_of(each.closures.begin(), each.closures.end(), std::cref(calls_));
    });
  }

  const Program& program_;
  const Lists callers_;
  Reach calls_, leaves_, turns_;
};
}  // namespace

namespace {
std::vector<std::uint32_t> functions_with_sinks(const Program& program) {
  return functions_with(program, [](const SinkFacts& each) { return each.has_sink; });
}

// By function: how many calls lead to a sink at least.
std::vector<std::size_t> distances(const Program& program) {
  const std::size_t count = program.functions.module().functions.size();
  std::vector<std::size_t> out(count, count);
  std::vector<std::uint32_t> level = functions_with_sinks(program);
  for (std::size_t distance = 0; !level.empty(); ++distance) {
    std::vector<std::uint32_t> above;
    for (const std::uint32_t each : level) {
      if (out[each] <= distance) continue;
      out[each] = distance;
      above.insert(above.end(), program.callers.of(each).begin(), program.callers.of(each).end());
    }
    level = std::move(above);
  }
  return out;
}
}  // namespace

std::vector<std::uint32_t> roots_that_reach_sinks(const Program& program,
                                                  const std::vector<std::uint32_t>& roots) {
  return chosen(roots, ReachesSinks(program, functions_with_sinks(program)));
}

std::vector<std::uint32_t> nearest_first(const Program& program, const std::vector<std::uint32_t>& roots) {
  const FunctionIndex& index = program.functions;
  const std::vector<std::size_t> of = distances(program);
  std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> together;
  const auto is_next = [&](std::uint32_t root) {
    const std::string& owner = index.function(root).class_name;
    return !together.empty() && !owner.empty() &&
           owner == index.function(together.back().second.back()).class_name;
  };
  for (const std::uint32_t root : roots) {
    if (!is_next(root)) together.push_back({of[root], {}});
    together.back().first = std::min(together.back().first, of[root]);
    together.back().second.push_back(root);
  }
  std::stable_sort(together.begin(), together.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::uint32_t> out;
  for (const auto& [distance, some] : together) out.insert(out.end(), some.begin(), some.end());
  return out;
}

std::vector<std::uint32_t> roots_that_run(const FunctionIndex& index, const std::vector<std::uint32_t>& roots,
                                          const std::vector<std::uint32_t>& functions) {
  const Lists callers = callers_and_given_objects(index);
  return chosen(roots, Reach(callers, functions));
}

std::vector<std::uint32_t> roots_with_values_of(const Program& program,
                                                const std::vector<std::uint32_t>& roots,
                                                const std::vector<std::uint32_t>& functions) {
  const FunctionIndex& index = program.functions;
  Lists callers = program.callers.by_key();
  for (std::uint32_t i = 0; i < callers.size(); ++i) {
    const std::string_view method = method_name(index.function(i));
    if (!is_named(Named::kForward, method) && !is_named(Named::kCallOfObject, method))
      callers[i] = program.callers.of(i);
    for (const std::uint32_t each : constructors_of_given(index, index.function(i)))
      callers[each].push_back(i);
  }
  return chosen(roots, Reach(callers, functions));
}

std::vector<std::uint32_t> roots_that_call(const Program& program, const std::vector<std::uint32_t>& roots,
                                           const std::vector<std::uint32_t>& functions) {
  return chosen(roots, Reach(program.callers.by_key(), functions));
}

}  // namespace dtype_guard::flow
