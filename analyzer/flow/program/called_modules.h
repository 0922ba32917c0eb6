// Where modules are called whose class does not show there: `self.rope(q)`, with a field that holds what the
// constructor was handed. Objects are followed from where they are made through fields, by the fields' names
// alone, parameters, variables and containers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/flow/program/class_hierarchy.h"

namespace dtype_guard::flow {

using InFunction = std::pair<std::uint32_t, const Instruction*>;  // a function, and what stands in it
// Where objects can be followed from, in the whole program.
struct ObjectPlaces {
  std::map<std::string_view, std::vector<InFunction>> made;     // by class
  std::map<std::string_view, std::vector<InFunction>> loads;    // by field
  std::map<std::string_view, std::vector<InFunction>> callers;  // by the callee's key
};
// By objects of one class, or of one field: the calls, and the fields that hold them as well.
struct FollowedObjects {
  std::vector<InFunction> calls;
  std::vector<std::string_view> fields;
};

class CalledModules {
 public:
  using In = InFunction;
  CalledModules(const FunctionIndex& index, const ClassHierarchy& classes)
      : index_(index), classes_(classes) {}
  // The calls by an attribute or a value in which an object that runs this method as its forward may be
  // called.
  const std::vector<In>& calls_of(std::uint32_t forward) const;

 private:
  const ObjectPlaces& places() const;
  // Where objects are made that run this method as their forward.
  const std::vector<In>& made_for(std::uint32_t forward) const;
  const FollowedObjects& from_field(std::string_view field) const;
  std::vector<In> all_calls(const FollowedObjects& first) const;

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  mutable std::optional<ObjectPlaces> places_;
  mutable std::optional<std::map<std::uint32_t, std::vector<In>>> made_for_;
  mutable std::map<std::uint32_t, std::vector<In>> known_;  // by forward
  mutable std::map<std::string_view, FollowedObjects> from_fields_;
};

}  // namespace dtype_guard::flow
