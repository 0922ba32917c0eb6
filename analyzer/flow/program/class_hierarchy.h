// Classes and their bases: what a method's name runs in an object of a class.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

inline constexpr int kMaxBases = 16;  // one above the other

class ClassHierarchy {
 public:
  explicit ClassHierarchy(const FunctionIndex& index);
  // Also where a base of `class_name` is not known.
  bool derives(std::string_view class_name, std::string_view base) const;
  // What NAME an object of that class runs: its own, else that of a base; nothing where that is not known.
  std::vector<std::uint32_t> inherited(std::string_view class_name, std::string_view method,
                                       std::size_t parameters, std::uint32_t unit) const;
  // What NAME runs in a class that has none of its own, where every class that derives from it is known.
  const std::vector<std::uint32_t>& overrides(const std::string& class_name, std::string_view method,
                                              std::size_t parameters) const;
  // Classes whose objects run a method that they inherit, in which something of their own is called.
  const std::vector<std::string>& heirs(std::uint32_t method) const;

 private:
  struct Lineage {
    std::unordered_set<std::string_view> bases;  // and theirs
    bool is_open = false;                        // one of them is not known
  };
  void note_bases(const ClassFacts& facts, int depth, Lineage& out) const;
  // Those that have it among their bases, as far as bases are known, in their order in the module.
  std::vector<std::uint32_t> known_heirs(std::string_view class_name) const;

  const FunctionIndex& index_;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> below_;  // classes by each of their bases
  mutable std::unordered_map<const ClassFacts*, Lineage> lineages_;
  mutable std::map<std::tuple<std::string, std::string, std::size_t>, std::vector<std::uint32_t>> overrides_;
  mutable std::map<std::uint32_t, std::vector<std::string>> heirs_;  // by method
};

}  // namespace dtype_guard::flow
