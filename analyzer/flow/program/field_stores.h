// Fields that are given another value after the constructor, and where.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/program/class_hierarchy.h"

namespace dtype_guard::flow {

class FieldStores {
 public:
  FieldStores(const FunctionIndex& index, const ClassHierarchy& classes) : index_(index), classes_(classes) {}
  // Such a field, and the method of the class that does it; nothing where other functions do.
  struct Reassigned {
    std::string field;
    std::optional<std::uint32_t> method;
  };
  const std::vector<Reassigned>& reassigned(const std::string& class_name) const;

 private:
  struct FieldStore {
    std::uint32_t function = 0;
    bool own = false;         // of the method's own object
    bool handed_out = false;  // its address is: what gets it may store there
  };
  void note_stores(std::uint32_t id) const;
  bool deals_with(std::uint32_t function, std::string_view class_name) const;

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  mutable std::optional<std::map<std::string, std::vector<FieldStore>, std::less<>>> stores_;  // by field
  mutable std::map<std::string, std::vector<Reassigned>> reassigned_;                          // by class
};

}  // namespace dtype_guard::flow
