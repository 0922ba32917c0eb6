// What code does to the tensors of modules: Module::to and set_data, and the lists that Module::parameters(),
// children() and their kin give.
#pragma once

#include <set>
#include <string_view>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/running_root.h"

namespace dtype_guard::flow {

// Whether an operator of that name lists parts of a module.
bool lists_parts(std::string_view name);

class Conversions {
 public:
  Conversions(const Program& program, const RunningRoot& root, Names& names, Effects& effects, Memory& memory)
      : program_(program),
        root_(root),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        memory_(memory) {}

  Value listed_parts(const Activation& activation, const Instruction& instruction, State& state);
  void retype(const Activation& activation, const Instruction& instruction, State& state);
  // Whether the last conversion of a tensor was to a dtype of the setting.
  bool was_assumed(HeapId tensor) const { return converted_as_assumed_.contains(tensor); }

 private:
  struct Conversion;
  bool one_on_each_path(const Value& member);
  void retype_below(State& state, const Alternative& target, Conversion& how);
  Value converted_contents(const Value& contents, const Conversion& how);
  void doubt_modules(State& state);
  void doubt_plain_members(State& state, HeapId module);

  const Program& program_;
  const RunningRoot& root_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Memory& memory_;
  std::set<HeapId> converted_as_assumed_;
};

}  // namespace dtype_guard::flow
