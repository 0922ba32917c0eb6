#include "analyzer/flow/roots/all_roots.h"

#include <optional>

#include "analyzer/flow/ir/registered_names.h"
#include "analyzer/flow/program/units_with_main.h"

namespace dtype_guard::flow {
namespace {
// What a set of functions leads to, through calls and lambdas that are made.
class Reached {
 public:
  explicit Reached(const Program& program)
      : entered_(program.entered), reached_(program.functions.module().functions.size()) {}

  bool contains(std::uint32_t function) const { return reached_[function]; }
  void add(std::uint32_t function) {
    std::vector<std::uint32_t> work = {function};
    while (!work.empty()) {
      const std::uint32_t next = work.back();
      work.pop_back();
      if (reached_[next]) continue;
      reached_[next] = true;
      for (const std::uint32_t callee : entered_.from(next)) work.push_back(callee);
    }
  }

 private:
  const Entered& entered_;
  std::vector<bool> reached_;
};

// A lambda is one where the front end knows that anyone may run it: as an entry of a table.
bool may_be_root(const Program& program, const Function& function) {
  if (function.blocks.empty() || function.foreign) return false;
  return function.kind != FunctionKind::kLambda ||
         (function.external && !program.calls_of_objects.is_called_with_casts(function.parameters.size()));
}
}  // namespace

// In a file with main, its calls give the inputs. What is not called is there for callers outside, by address
// or from another file.
const std::vector<std::uint32_t>& all_roots(const Program& program) {
  std::optional<std::vector<std::uint32_t>>& known = program.roots();
  if (known) return *known;
  const FunctionIndex& index = program.functions;
  const auto& functions = index.module().functions;
  const auto count = static_cast<std::uint32_t>(functions.size());
  const UnitsWithMain units(index.module());
  std::vector<bool> chosen(count);
  Reached reached(program);
  const auto choose = [&](std::uint32_t each) {
    chosen[each] = true;
    reached.add(each);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const Function& each = functions[i];
    if (may_be_root(program, each) && (each.is_main || (each.external && units.is_open(each)))) choose(i);
  }
  std::vector<bool> called(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t callee : program.entered.from(i)) called[callee] = called[callee] || callee != i;
  }
  for (const bool entered : {false, true}) {  // then functions that only call each other
    for (std::uint32_t i = 0; i < count; ++i) {
      // A header's functions wait for other files, where they are called.
      if (units.waits(functions[i])) continue;
      if (may_be_root(program, functions[i]) && !reached.contains(i) && (entered || !called[i])) choose(i);
    }
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (chosen[i]) out.push_back(i);
  }
  return known.emplace(std::move(out));
}

}  // namespace dtype_guard::flow
