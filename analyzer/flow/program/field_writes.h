// Which fields are written by which functions, constructors aside.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/flow/program/class_hierarchy.h"

namespace dtype_guard::flow {

class FieldWrites {
 public:
  FieldWrites(const FunctionIndex& index, const ClassHierarchy& classes) : index_(index), classes_(classes) {}
  // Of a class and its bases: the fields that others than its constructors may have set.
  const std::vector<Parameter>& settable(const std::string& class_name) const;
  // Those who write the field and others of the same object with it, by one condition perhaps: a number for
  // each such function that is no constructor. Of a method's own object those that such an object has.
  const std::vector<std::uint32_t>& written_by(const std::string& class_name, const std::string& field) const;

 private:
  struct WritesSeveral {
    std::uint32_t number = 0;
    std::string class_name;  // whose method it is; "" where the object is another
  };
  void note_writes(const Function& function) const;
  void note_all_writes() const;
  std::vector<Parameter> find_settable(std::string_view class_name) const;

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  // By field: the classes whose methods write it to their own object; "" where the object is another.
  mutable std::map<std::string, std::set<std::string>, std::less<>> writers_;
  mutable std::map<std::string, std::vector<WritesSeveral>> write_several_;  // by field
  mutable std::uint32_t count_of_writes_ = 0;
  mutable bool writers_are_noted_ = false;
  mutable std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> written_by_;
  mutable std::map<std::string, std::vector<Parameter>> settable_;  // by class
};

}  // namespace dtype_guard::flow
