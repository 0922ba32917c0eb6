// Things with identity: instances, containers, closures, library modules and buffers.
#pragma once

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/sightings.h"

namespace dtype_guard::flow {

class Objects {
 public:
  Objects(const FunctionIndex& index, Names& names, Sightings& sightings, Questions& questions,
          Rounds& rounds, Memory& memory)
      : index_(index),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        sightings_(sightings),
        questions_(questions),
        rounds_(rounds),
        memory_(memory) {}

  Value allocate(const Activation& activation, const Instruction& instruction, State& state);
  Value pack(const Activation& activation, const Instruction& instruction, State& state);
  Value copy_of(const Activation& activation, const Instruction& instruction, State& state);
  Value deep_copy_of(const Activation& activation, const Instruction& instruction, State& state);
  void overwrite_object(const Instruction& instruction, State& state);
  Value closure(const Activation& activation, const Instruction& instruction, State& state);
  Value library_module(const Activation& activation, const Instruction& instruction, State& state);
  void write_into(const Activation& activation, const Instruction& instruction, const Value& target,
                  const Value& given, State& state);
  void write_elements(const Activation& activation, const Instruction& instruction, State& state);

 private:
  Alternative cloned(const Alternative& original, ContextId context, const Instruction* site, int& sub,
                     State& state, int depth);

  const FunctionIndex& index_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Sightings& sightings_;
  Questions& questions_;
  Rounds& rounds_;
  Memory& memory_;
};

}  // namespace dtype_guard::flow
