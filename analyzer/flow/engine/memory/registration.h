// Tensors that a module owns, and what the running activation did to tensors that its callers may know by
// values of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/running_root.h"
#include "analyzer/flow/engine/tensor_changes.h"

namespace dtype_guard::flow {

// The type of a tensor that a field of a module registers when it is assigned.
inline constexpr std::string_view kParameterType = "parameter";

class Registrations {
 public:
  Registrations(const Program& program, const RunningRoot& root, Names& names, Memory& memory)
      : index_(program.functions),
        classes_(program.classes),
        root_(root),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        memory_(memory) {}

  Value registration(const Activation& activation, const Instruction& instruction, State& state);
  // Without a name it is one of a list's: known by what it is, whatever line of whichever call puts it there.
  void enter(HeapId owner, Registration entry, State& state) const;
  void take_layers(const Instruction& instruction, State& state);
  bool is_module_type(const std::string& type) const;
  void set_rank(State& state, const Value& tensor, const Rank& now, int depth = 0);

  // A callee begins: gives what its caller changed so far. That goes back where it does not return.
  TensorChanges begin_call() { return std::exchange(changes_, {}); }
  void drop_call(TensorChanges callers) { changes_ = std::move(callers); }
  void take_over_changes(State& state, TensorChanges callers, const Activation& callee);
  void take_over_changes_of(State& state, const Value& own, const Value& passed, const Activation& caller);

 private:
  Value owned_tensor(const Activation& activation, const Instruction& instruction, State& state);
  std::optional<Registration::Kind> registered_as(const State& state, const Value& given) const;
  void take_over_registered(State& state, const TensorChanges::Registered& callees, const Activation* caller);
  void take_over_ranks(State& state, const std::vector<Value>& changed);

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  const RunningRoot& root_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Memory& memory_;
  TensorChanges changes_;  // of the running activation
};

}  // namespace dtype_guard::flow
