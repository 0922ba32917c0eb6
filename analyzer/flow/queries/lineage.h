// Which values a value was computed from, as far as the code tells without running it: along operands, the
// stores to a variable or field, arguments of the calls of a function and what it returns. It knows no paths,
// so it serves to explain a defect that the engine has found, never to find one.
#pragma once

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class Lineage {
 public:
  explicit Lineage(const FunctionIndex& index) : index_(index) {}
  // Whether an operand of `instruction` in `function` comes from what `tested` in `tester` names.
  bool derives(std::uint32_t function, const Instruction& instruction, std::uint32_t tester,
               ValueId tested) const;

 private:
  // A value of a function, or (value 0) one of its variables; `field` alone: a field of any object.
  struct Node {
    std::uint32_t function = 0;
    ValueId value = 0;
    VariableId variable = 0;
    std::string field;
    friend auto operator<=>(const Node&, const Node&) = default;
  };
  static Node named(std::uint32_t function, const Place& place);
  std::vector<Node> before(const Node& node) const;
  std::vector<Node> stored(const Node& node) const;
  std::vector<Node> passed(std::uint32_t function, std::int64_t position) const;

  const FunctionIndex& index_;
};

}  // namespace dtype_guard::flow
