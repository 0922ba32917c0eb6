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

class CalledModules {
 public:
  using In = std::pair<std::uint32_t, const Instruction*>;  // a function, and what stands in it
  CalledModules(const FunctionIndex& index, const ClassHierarchy& classes)
      : index_(index), classes_(classes) {}
  // The calls by an attribute or a value in which an object that runs this method as its forward may be
  // called.
  const std::vector<In>& calls_of(std::uint32_t forward) const;

 private:
  friend class ObjectTrace;
  struct Places {
    std::map<std::string_view, std::vector<In>> made;     // by class
    std::map<std::string_view, std::vector<In>> loads;    // by field
    std::map<std::string_view, std::vector<In>> callers;  // by the callee's key
  };
  // By objects of one class, or of one field: the calls, and the fields that hold them as well.
  struct Reached {
    std::vector<In> calls;
    std::vector<std::string_view> fields;
  };
  const Places& places() const;
  // Where objects are made that run this method as their forward.
  const std::vector<In>& made_for(std::uint32_t forward) const;
  const Reached& from_field(std::string_view field) const;
  std::vector<In> all_calls(const Reached& first) const;

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  mutable std::optional<Places> places_;
  mutable std::optional<std::map<std::uint32_t, std::vector<In>>> made_for_;
  mutable std::map<std::uint32_t, std::vector<In>> known_;  // by forward
  mutable std::map<std::string_view, Reached> from_fields_;
};

}  // namespace dtype_guard::flow
