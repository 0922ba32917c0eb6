// Tensors that an object has from a method of its own, and which functions read them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/program/class_hierarchy.h"

namespace dtype_guard::flow {

class FieldUses {
 public:
  FieldUses(const FunctionIndex& index, const ClassHierarchy& classes) : index_(index), classes_(classes) {}
  // Tensors of a class and its bases that hold what methods of theirs put there, and no other code.
  struct SetLater {
    std::string field;
    std::vector<std::uint32_t> setters, readers;
  };
  const std::vector<SetLater>& set_later(const std::string& class_name) const;

 private:
  struct FieldUse {
    std::vector<std::uint32_t> setters, readers;  // of its own object
    bool elsewhere = false;                       // it may be set otherwise
  };
  void note_uses(std::uint32_t id) const;

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  mutable std::optional<std::map<std::string, FieldUse, std::less<>>> uses_;     // by field
  mutable std::map<std::string, std::vector<SetLater>, std::less<>> set_later_;  // by class
};

}  // namespace dtype_guard::flow
