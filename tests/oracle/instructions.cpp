#include "tests/oracle/instructions.h"

#include <string_view>

#include "analyzer/flow/ir/mnemonics.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;

// Of those that are no operation of their own; by a name, or by what it begins with.
struct Form {
  const char* what;
  Op op;
  std::string_view name;
  bool begins = false;
};
constexpr Form kForms[] = {{"call of a virtual method", Op::kCall, flow::kVirtualCall, true},
                           {"call of an attribute", Op::kCall, flow::kAttributeCall, true},
                           {"call of a value", Op::kCall, ""},
                           {"object dict", Op::kObject, flow::kDictionary},
                           {"op dict_get", Op::kOperator, "dict_get"},
                           {"op dict_has", Op::kOperator, "dict_has"},
                           {"op dict_pop", Op::kOperator, "dict_pop"},
                           {"op dict_update", Op::kOperator, "dict_update"},
                           {"op larger_of", Op::kOperator, flow::kLargerOf},
                           {"op loop_entered", Op::kOperator, flow::kLoopEntered},
                           {"op may_throw", Op::kOperator, flow::kMayThrow},
                           {"op more_elements", Op::kOperator, flow::kMoreElements},
                           {"op smaller_of", Op::kOperator, flow::kSmallerOf},
                           {"op store_element", Op::kOperator, "store_element"},
                           {"op subscript", Op::kOperator, "subscript"},
                           {"op text_length", Op::kOperator, flow::kTextLength},
                           {"op text_order", Op::kOperator, flow::kTextOrder},
                           {"op torch::nn", Op::kOperator, "torch::nn::", true}};
// Not generated: "stub:", which begins the key of a function (flow::kStub). What stands in a stub has the
// place of its call, so that nothing tells what arrived at which of its instructions; as calls, stubs are
// calls.

bool is_of(const Instruction& each, const Form& form) {
  return each.op == form.op && (form.begins ? each.name.starts_with(form.name) : each.name == form.name);
}
bool ends_block(Op op) { return op == Op::kJump || op == Op::kReturn || op == Op::kUnreachable; }
}  // namespace

void count_instructions(const Module& module, const Passed& passed, InstructionCounts& out) {
  for (const Function& function : module.functions) {
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const bool is_taken = Passed::has(passed.arms[0], each) || Passed::has(passed.arms[1], each);
        const bool is_run = ends_block(each.op) || is_taken || Passed::has(passed.instructions, each);
        if (!is_run || each.name == "probe") continue;
        ++out[std::string(flow::mnemonic(each.op).word)];
        for (const Form& form : kForms) {
          if (is_of(each, form)) ++out[form.what];
        }
      }
    }
  }
}

std::vector<std::string> counted_instructions() {
  std::vector<std::string> out;
  for (const auto& each : flow::kMnemonics) out.emplace_back(each.word);
  for (const Form& each : kForms) out.emplace_back(each.what);
  return out;
}

}  // namespace dtype_guard::oracle
