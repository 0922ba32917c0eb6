// Tests that are joined to one: all of them hold, or one of them does.
#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::flow {

bool joins_all(std::string_view name) { return name == "logical_and" || name == kAllOf; }

// any() and all() of what is listed there are `or` and `and`.
const Instruction* joined_tests(const Instruction& test, const FunctionInfo& info) {
  if (test.name == "logical_and" || test.name == "logical_or") return &test;
  const bool of_a_list = (test.name == kAllOf || test.name == kAnyOf) && test.args.size() == 1;
  const Instruction* listed = of_a_list ? info.definition(test.args[0].value) : nullptr;
  return listed && listed->op == Op::kPack && !listed->args.empty() ? listed : nullptr;
}

}  // namespace dtype_guard::flow
