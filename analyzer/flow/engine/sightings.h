// What a function is evaluated to see besides its calls: objects of a class that it makes, or what arrives at
// one of its instructions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/program/constructions.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

class Sightings {
 public:
  using Made = std::vector<std::pair<HeapId, Construction>>;
  void look_for_class(std::string name) {
    *this = {};
    class_ = std::move(name);
  }
  void look_for_arrival(const Instruction& at) {
    *this = {};
    at_ = &at;
  }
  void end() { *this = {}; }

  void note_object(HeapId id, const std::string& type, const Construction& at) {
    if (!class_.empty() && type == class_) made_.push_back({id, at});
  }
  bool is_looked_for(const Instruction& instruction) const { return at_ == &instruction; }
  void note_arrival(const State& state) { arrived_ = state; }

  const Made& made() const { return made_; }
  // The last time; empty where nothing came there.
  const std::optional<State>& arrived() const { return arrived_; }

 private:
  std::string class_;
  const Instruction* at_ = nullptr;
  Made made_;
  std::optional<State> arrived_;
};

}  // namespace dtype_guard::flow
