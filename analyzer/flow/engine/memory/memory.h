// Places and what they hold: variables, fields and cells of objects, and what a value is as a tensor, through
// handles, references and descriptors.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/memory/rounds.h"
#include "analyzer/flow/engine/questions.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

class Memory {
 public:
  static constexpr std::int64_t kMaxListed = 16;  // elements that are told apart as a container is filled

  Memory(const Program& program, Names& names, Questions& questions, Rounds& rounds)
      : program_(program),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        questions_(questions),
        rounds_(rounds) {}

  // cells.cpp
  Value read(const State& state, const Location& location);
  Value read(const State& state, const Target& target);
  // What is read from one of several objects, each of which it is under its conditions.
  Value held_by_either(const std::vector<Value>& all, const std::vector<SymbolSetId>& conditions);
  void write(State& state, const Target& target, const Value& value);
  void write(State& state, const Location& location, const Value& value, bool strong);
  Value shared_tensor(HeapId id, HeapObject::Kind kind, const Value& contents, State& state,
                      bool stated = false);
  void havoc(State& state, const Value& value);
  SymbolSetId symbols_of_field(HeapId object, const HeapObject& is, std::int64_t id);
  // Where a value is one of a list's: what stands in that. Else null.
  const std::vector<Value>* several_of(const Value& one) const;

  // tensors.cpp
  std::vector<Alternative> tensors(const State& state, const Value& value, int depth = 0);
  std::vector<Value> elements(const State& state, const Value& value);  // else the value itself
  bool is_list(const State& state, const Value& value);                 // or the address of one
  Alternative described(const Alternative& data, Alternative seen, std::uint32_t function,
                        const Instruction* by);

  // places.cpp
  Target resolve(const Activation& activation, const State& state, const Place& place);
  Value load(const Activation& activation, const Instruction& instruction, const State& state);
  Value address(const Activation& activation, const Instruction& instruction, const State& state);
  // A list that has that element has those before it.
  void list_elements(const Activation& activation, State& state, const Place& place);

 private:
  void follow(const State& state, const Alternative& from, const Place::Step& step, Target& out, int depth);
  Value one_of_several(const HeapObject& list, const Value& all);
  void write_to_one(State& state, const HeapObject& several, const Key& key, const Value& value);
  std::vector<Alternative> descriptor(const State& state, const HeapObject& object, int depth);

  const Program& program_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Questions& questions_;
  Rounds& rounds_;
  // Values that are one of a list's, with what stands in it; by address.
  std::unordered_map<const void*, std::pair<Value, std::vector<Value>>> elements_;
};

}  // namespace dtype_guard::flow
