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
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

// A root gets its object, and the objects that it is given, from their constructors.
enum class Along : std::uint8_t { kCallsAndGivenObjects, kCalls };

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
  std::vector<std::uint32_t> of(std::uint32_t function) const {
    std::set<std::uint32_t> strangers, out(index_.callees(function).begin(), index_.callees(function).end());
    std::set<std::uint32_t> others;
    for (const Block& block : index_.function(function).blocks) {
      for (const Instruction& each : block.instructions) note(each, strangers, others);
    }
    std::erase_if(out,
                  [&](std::uint32_t each) { return strangers.contains(each) && !others.contains(each); });
    return {out.begin(), out.end()};
  }

 private:
  // What only such a call might run, and what others may.
  void note(const Instruction& each, std::set<std::uint32_t>& strangers,
            std::set<std::uint32_t>& others) const {
    const std::vector<std::uint32_t> found = index_.may_run(each);
    const std::string* owner = owner_of(each);
    for (const std::uint32_t one : found) {
      const bool is_stranger = owner && !kin_.are(*owner, index_.function(one).class_name);
      (is_stranger ? strangers : others).insert(one);
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

// The functions that lead to one of these.
class Reach {
 public:
  Reach(const FunctionIndex& index, const std::vector<std::uint32_t>& goals, Along along)
      : Reach(
            index, [&](std::uint32_t each) { return index.callees(each); }, goals, along) {}
  template <class Callees>
  Reach(const FunctionIndex& index, const Callees& callees, const std::vector<std::uint32_t>& goals,
        Along along)
      : callers_(index.module().functions.size()), reaches_(callers_.size()) {
    for (std::uint32_t i = 0; i < callers_.size(); ++i) {
      for (const std::uint32_t callee : callees(i)) callers_[callee].push_back(i);
      if (along == Along::kCalls) continue;
      for (const std::uint32_t each : constructors_of_given(index, index.function(i)))
        callers_[each].push_back(i);
    }
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

  std::vector<std::vector<std::uint32_t>> callers_;
  std::vector<bool> reaches_;
  std::vector<std::uint32_t> work_;
};

template <typename Has>
std::vector<std::uint32_t> functions_with(const FunctionIndex& index, Has has) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < index.module().functions.size(); ++i) {
    const std::vector<Block>& blocks = index.function(i).blocks;
    if (std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
          return std::any_of(block.instructions.begin(), block.instructions.end(),
                             [&](const Instruction& each) { return has(each, i); });
        }))
      out.push_back(i);
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
        callees_(index.module().functions.size()),
        calls_(index, calls_by_class(), sinks, Along::kCalls),
        leaves_(index, Callees{callees_}, makers(), Along::kCalls),
        turns_(index, Callees{callees_}, functions_with(index, makes_sine), Along::kCalls) {}
  bool operator()(std::uint32_t root) const {
    const std::vector<std::uint32_t> given = constructors_of_given(index_, index_.function(root));
    return calls_(root) || turns_(root) || std::any_of(given.begin(), given.end(), std::cref(leaves_)) ||
           std::any_of(given.begin(), given.end(), std::cref(turns_));
  }

 private:
  using Lists = std::vector<std::vector<std::uint32_t>>;
  struct Callees {
    const Lists& lists;
    const std::vector<std::uint32_t>& operator()(std::uint32_t function) const { return lists[function]; }
  };
  Callees calls_by_class() {
    const CallsByClass calls(index_);
    for (std::uint32_t i = 0; i < callees_.size(); ++i) callees_[i] = calls.of(i);
    return {callees_};
  }
  // What rotates by hand has its tables from its object or makes them.
  static bool makes_sine(const Instruction& each, std::uint32_t) {
    const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
    return op && is_sine(op->name);
  }
  // Of lambdas that reach one.
  std::vector<std::uint32_t> makers() const {
    return functions_with(index_, [&](const Instruction& each, std::uint32_t) {
      if (each.op != Op::kClosure) return false;
      const std::vector<std::uint32_t> made = index_.may_run(each);
      return std::any_of(made.begin(), made.end(), std::cref(calls_));
    });
  }

  const FunctionIndex& index_;
  Lists callees_;
  Reach calls_, leaves_, turns_;
};
}  // namespace

namespace {
std::vector<std::uint32_t> functions_with_sinks(const FunctionIndex& index) {
  return functions_with(index, [&](const Instruction& each, std::uint32_t function) {
    const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
    const bool product = op && is_contraction(op->name);
    return each.op == Op::kSink || (product && product_contract(op->name, each, index.info(function)));
  });
}

// By function: how many calls lead to a sink at least.
std::vector<std::size_t> distances(const FunctionIndex& index) {
  const std::size_t count = index.module().functions.size();
  std::vector<std::vector<std::uint32_t>> callers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t callee : index.callees(i)) callers[callee].push_back(i);
  }
  std::vector<std::size_t> out(count, count);
  std::vector<std::uint32_t> level = functions_with_sinks(index);
  for (std::size_t distance = 0; !level.empty(); ++distance) {
    std::vector<std::uint32_t> above;
    for (const std::uint32_t each : level) {
      if (out[each] <= distance) continue;
      out[each] = distance;
      above.insert(above.end(), callers[each].begin(), callers[each].end());
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

std::vector<std::uint32_t> nearest_first(const FunctionIndex& index,
                                         const std::vector<std::uint32_t>& roots) {
  const std::vector<std::size_t> of = distances(index);
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
  return chosen(roots, Reach(index, functions, Along::kCallsAndGivenObjects));
}

std::vector<std::uint32_t> roots_that_call(const FunctionIndex& index,
                                           const std::vector<std::uint32_t>& roots,
                                           const std::vector<std::uint32_t>& functions) {
  return chosen(roots, Reach(index, functions, Along::kCalls));
}

}  // namespace dtype_guard::flow
