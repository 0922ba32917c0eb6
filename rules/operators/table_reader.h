// Reads groups of the operator tables (*.json): one group is one row of facts and the names it holds for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/data/located_json.h"
#include "rules/operators/operators.h"

namespace dtype_guard {

// The tables are ours and compiled in: a mistake in one is a defect of the build, found by the first test
// that runs.
[[noreturn]] void broken_table(std::string_view file, const JsonNode& node, std::string_view expected);

class TableReader {
 public:
  explicit TableReader(std::string_view file) : file_(file) {}

  // The entries of a group, alike but for their names.
  std::vector<Operator> group(const JsonNode& node) const;
  const JsonNode& required(const JsonNode& node, std::string_view key) const;
  std::vector<std::string> strings(const JsonNode& node) const;
  const std::string& text(const JsonNode& node) const;
  DtypeSet dtypes(const JsonNode& node) const;
  OutRule out_rule(const JsonNode& node) const;
  static bool flag(const JsonNode& node, std::string_view key);

 private:
  Dtype dtype(const JsonNode& node) const;
  std::vector<OperatorStep> steps(const JsonNode& node) const;
  template <typename Words>
  auto word(const JsonNode& node, const Words& words) const;

  std::string_view file_;
};

}  // namespace dtype_guard
