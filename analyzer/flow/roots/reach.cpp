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

// Classes whose methods an object of a class, or of one that derives from it, may have.
class Kin {
 public:
  explicit Kin(const FunctionIndex& index) {
    for (const ClassFacts& each : index.module().classes) {
      std::set<std::string_view> own = {each.name};
      std::vector<const ClassFacts*> work = {&each};
      while (!work.empty()) {
        const ClassFacts* next = work.back();
        work.pop_back();
        for (const std::string& base : next->bases) {
          const ClassFacts* above = own.insert(base).second ? index.class_facts(base) : nullptr;
          if (above) work.push_back(above);
        }
      }
      for (const std::string_view one : own) of_[one].insert(own.begin(), own.end());
    }
  }
  bool are(std::string_view one, std::string_view other) const {
    const auto found = of_.find(one);
    return one == other || (found != of_.end() && found->second.contains(other));
  }

 private:
  std::map<std::string_view, std::set<std::string_view>> of_;
};

// What each function calls. Where the front end found which method of an object's class is meant, only those
// of its kin can run instead.
class CallsByClass {
 public:
  explicit CallsByClass(const FunctionIndex& index) : index_(index), kin_(index) {}
  const std::vector<std::uint32_t>& of(std::uint32_t function) const {
    std::optional<std::vector<std::uint32_t>>& known = index_.found_of(function).callees_by_class;
    if (!known) known = find(function);
    return *known;
  }

 private:
  std::vector<std::uint32_t> find(std::uint32_t function) const {
    std::vector<std::uint32_t> out = index_.callees(function);
    const std::set<std::uint32_t> strangers = strangers_of(function);
    if (strangers.empty()) return out;
    std::set<std::uint32_t> others;
    each_run(function, [&](const std::string* owner, std::uint32_t one) {
      if (!is_stranger(owner, one)) others.insert(one);
    });
    std::erase_if(out,
                  [&](std::uint32_t each) { return strangers.contains(each) && !others.contains(each); });
    return out;
  }
  bool is_stranger(const std::string* owner, std::uint32_t one) const {
    return owner && !kin_.are(*owner, index_.function(one).class_name);
  }
  // What only a call of a named method might run.
  std::set<std::uint32_t> strangers_of(std::uint32_t function) const {
    std::set<std::uint32_t> out;
    each_run(function, [&](const std::string* owner, std::uint32_t one) {
      if (is_stranger(owner, one)) out.insert(one);
    });
    return out;
  }
  template <class Take>
  void each_run(std::uint32_t function, const Take& take) const {
    for (const Instruction* each : index_.effects(function).runs) {
      const std::vector<std::uint32_t>& found = index_.may_run(*each);
      const std::string* owner = found.empty() ? nullptr : owner_of(*each);
      for (const std::uint32_t one : found) take(owner, one);
    }
  }
  // The class whose method the call names; null where it names none.
  const std::string* owner_of(const Instruction& each) const {
    if (each.op != Op::kCall || !each.name.starts_with(kAttributeCall)) return nullptr;
    const std::size_t key = each.name.find("::", kAttributeCall.size());
    if (key == std::string::npos) return nullptr;
    const std::vector<std::uint32_t>& named = index_.find(std::string_view(each.name).substr(key + 2));
    if (named.size() != 1 || index_.function(named.front()).class_name.empty()) return nullptr;
    return &index_.function(named.front()).class_name;
  }

  const FunctionIndex& index_;
  Kin kin_;
};

using Lists = std::vector<std::vector<std::uint32_t>>;

Lists callers_and_given_objects(const FunctionIndex& index) {
  Lists out(index.module().functions.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    for (const std::uint32_t callee : index.callees(i)) out[callee].push_back(i);
    for (const std::uint32_t each : constructors_of_given(index, index.function(i))) out[each].push_back(i);
  }
  return out;
}

Lists callers_by_class(const FunctionIndex& index) {
  const CallsByClass calls(index);
  Lists out(index.module().functions.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    for (const std::uint32_t callee : calls.of(i)) out[callee].push_back(i);
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

using Body = FunctionIndex::OfFunction::Body;

Body look_at_body(const FunctionIndex& index, std::uint32_t function) {
  Body out;
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
std::vector<std::uint32_t> functions_with(const FunctionIndex& index, Has has) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < index.module().functions.size(); ++i) {
    std::optional<Body>& known = index.found_of(i).body;
    if (!known) known = look_at_body(index, i);
    if (has(*known)) out.push_back(i);
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
  ReachesSinks(const FunctionIndex& index, const std::vector<std::uint32_t>& sinks)
      : index_(index),
        callers_(callers_by_class(index)),
        calls_(callers_, sinks),
        leaves_(callers_, makers()),
        turns_(callers_, makers_of_sine()) {}
  bool operator()(std::uint32_t root) const {
    const std::vector<std::uint32_t> given = constructors_of_given(index_, index_.function(root));
    return calls_(root) || turns_(root) || std::any_of(given.begin(), given.end(), std::cref(leaves_)) ||
           std::any_of(given.begin(), given.end(), std::cref(turns_));
  }

 private:
  // What rotates by hand has its tables from its object or makes them.
  std::vector<std::uint32_t> makers_of_sine() const {
    return functions_with(index_, [](const Body& each) { return each.makes_sine; });
  }
  // Of lambdas that reach one, and of modules whose forward has a contract.
  std::vector<std::uint32_t> makers() const {
    return functions_with(index_, [&](const Body& each) {
      return each.makes_attention ||
             std::any_of(each.closures.begin(), each.closures.end(), std::cref(calls_));
    });
  }

  const FunctionIndex& index_;
  const Lists callers_;
  Reach calls_, leaves_, turns_;
};
}  // namespace

namespace {
std::vector<std::uint32_t> functions_with_sinks(const FunctionIndex& index) {
  return functions_with(index, [](const Body& each) { return each.has_sink; });
}

// By function: how many calls lead to a sink at least.
std::vector<std::size_t> distances(const FunctionIndex& index, const Callers& callers) {
  const std::size_t count = index.module().functions.size();
  std::vector<std::size_t> out(count, count);
  std::vector<std::uint32_t> level = functions_with_sinks(index);
  for (std::size_t distance = 0; !level.empty(); ++distance) {
    std::vector<std::uint32_t> above;
    for (const std::uint32_t each : level) {
      if (out[each] <= distance) continue;
      out[each] = distance;
      above.insert(above.end(), callers.of(each).begin(), callers.of(each).end());
    }
    level = std::move(above);
  }
  return out;
}
}  // namespace

std::vector<std::uint32_t> roots_that_reach_sinks(const FunctionIndex& index,
                                                  const std::vector<std::uint32_t>& roots) {
  return chosen(roots, ReachesSinks(index, functions_with_sinks(index)));
}

std::vector<std::uint32_t> nearest_first(const Program& program, const std::vector<std::uint32_t>& roots) {
  const FunctionIndex& index = program.functions;
  const std::vector<std::size_t> of = distances(index, program.callers);
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
