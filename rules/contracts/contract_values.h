// The values of a contract file, each read with its check: text, names, lists, words of a vocabulary, dtypes,
// positions and versions. What is wrong is said with line, JSON pointer, what was found and what was
// expected, and with the nearest valid name where there is one. contract_reader.cpp puts the values together.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/contracts/contract.h"
#include "rules/data/located_json.h"
#include "rules/operators/devices.h"

namespace dtype_guard {

class ContractValues {
 public:
  using Names = std::vector<std::string>;
  using Words = std::span<const std::string_view>;  // names that are known here, of which no copy is made

  explicit ContractValues(const std::string& file) : file_(file) {}

  [[noreturn]] void wrong(const JsonNode& node, const std::string& expected) const;
  // "a" is not one of the names; says which is nearest.
  [[noreturn]] void unknown(const JsonNode& node, const std::string& what, const Names& known,
                            std::string_view meant = {}) const;
  // The key of a member rather than its value.
  [[noreturn]] void wrong_key(const JsonMember& member, const std::string& expected) const;
  void check_members(const JsonNode& node, Words known, Words required) const;
  void check_members(const JsonNode& node, std::initializer_list<std::string_view> known,
                     std::initializer_list<std::string_view> required) const {
    check_members(node, Words(known.begin(), known.size()), Words(required.begin(), required.size()));
  }

  const std::string& text(const JsonNode& node) const;
  const std::string& name(const JsonNode& node) const;
  const JsonNode::Items& list(const JsonNode& node, const std::string& content) const;
  // The members of an object whose keys are names that calls or types go by.
  const JsonNode::Members& named_values(const JsonNode& node, const std::string& content) const;
  const std::string& called_name(const JsonNode& node) const;
  const std::string& device(const JsonNode& node) const;
  const std::string& version(const JsonNode& node) const;
  int argument(const JsonNode& node) const;
  bool flag(const JsonNode& node) const;
  Dtype one_dtype(const JsonNode& node) const;
  DtypeSet dtypes(const JsonNode& node) const;
  DtypeSet dtype_or_group(const JsonNode& node, bool groups_fit = true) const;
  Recast recast(const JsonNode& node) const;

  template <typename Value>
  Value choice(const JsonNode& node, std::initializer_list<std::pair<std::string_view, Value>> values,
               const std::string& what) const {
    Names known;
    for (const auto& [key, value] : values) {
      if (text(node) == key) return value;
    }
    for (const auto& [key, value] : values) known.emplace_back(key);
    unknown(node, what, known);
  }

 private:
  const std::string& file_;
};

// The names of a set's dtypes, for messages.
std::vector<std::string> names_of(DtypeSet dtypes);

}  // namespace dtype_guard
