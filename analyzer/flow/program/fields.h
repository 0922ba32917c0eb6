// Which functions of the program read and set the fields of objects, by the fields' names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/flow/program/class_hierarchy.h"

namespace dtype_guard::flow {

class Fields {
 public:
  Fields(const FunctionIndex& index, const ClassHierarchy& classes) : index_(index), classes_(classes) {}

  // Who gives a field another value after the constructor: the function that does it; nothing where that
  // hands the place out.
  struct Reassigned {
    std::optional<std::uint32_t> function;
    bool is_method = false;  // and sets it in its own object
  };
  const std::vector<Reassigned>& reassigned(const std::string& class_name, std::string_view field) const;

  // Tensors of a class and its bases that hold what methods of theirs put there, and no other code.
  struct SetLater {
    std::string field;
    std::vector<std::uint32_t> setters, readers;
  };
  const std::vector<SetLater>& set_later(const std::string& class_name) const;

  // Fields of a class and its bases in which a constructor leaves None or a flag.
  const std::set<std::string>& placeholders(const std::string& class_name) const;

  // Plain values of a class and its bases that others than its constructors may have set.
  const std::vector<Parameter>& settable(const std::string& class_name) const;

  // Those who write the field and others of the same object with it, by one condition perhaps: a number for
  // each such function that is no constructor. Of a method's own object those that such an object has.
  const std::vector<std::uint32_t>& written_by(const std::string& class_name, const std::string& field) const;

 private:
  struct Change {
    std::uint32_t function = 0;
    const FieldAccess* access = nullptr;
  };
  struct WritesSeveral {
    std::uint32_t number = 0;
    std::string_view class_name;  // whose method it is; "" where the object is another
  };
  struct Uses {
    // Stores and addresses, in the program's order.
    std::vector<Change> changes, by_constructors;
    std::vector<std::uint32_t> readers;
    std::vector<WritesSeveral> several;
    bool is_converted = false;  // a tensor where it is, as that of a registered one may be
  };
  using ByField = std::map<std::string_view, Uses>;
  const ByField& uses() const;
  void note(std::uint32_t function, ByField& out) const;
  void note_several(std::uint32_t function, std::uint32_t& count, ByField& out) const;
  bool are_related(std::string_view one, std::string_view other) const {
    return classes_.derives(one, other) || classes_.derives(other, one);
  }
  bool may_be_set_by(const Change& change, std::string_view class_name) const;
  std::optional<SetLater> set_later_of(const ClassFacts& facts, const std::string& field) const;
  bool is_set_by_others(const ClassFacts& facts, const Parameter& field) const;
  // The class itself first, then its bases, nearest first, as far as they are known.
  std::vector<const ClassFacts*> with_bases(std::string_view class_name) const;
  bool has_unseen_setter(const ClassFacts& facts) const;

  const FunctionIndex& index_;
  const ClassHierarchy& classes_;
  mutable std::optional<ByField> uses_;
  mutable std::map<std::string, std::map<std::string_view, std::vector<Reassigned>>> reassigned_;
  mutable std::map<std::string, std::vector<SetLater>> set_later_;  // these by class
  mutable std::map<std::string, std::set<std::string>> placeholders_;
  mutable std::map<std::string, std::vector<Parameter>> settable_;
  mutable std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> written_by_;
};

}  // namespace dtype_guard::flow
