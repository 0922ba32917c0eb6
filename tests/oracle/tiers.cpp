#include "tests/oracle/tiers.h"

#include <algorithm>
#include <string_view>

namespace dtype_guard::oracle {
namespace {
using flow::Function;
using flow::Instruction;
using flow::Op;
using flow::ParameterKind;

bool is_decided_by_caller(const Function& function, const Instruction& param) {
  const std::size_t itself = function.kind == flow::FunctionKind::kFunction ? 0 : 1;
  const auto position = static_cast<std::size_t>(std::get<std::int64_t>(param.constant));
  if (!function.external || position < itself) return false;
  const ParameterKind kind = function.parameters[position - itself].kind;
  return kind == ParameterKind::kNumber || kind == ParameterKind::kOptionalTensor;
}

// Whether the next that is asked is a check of just that.
bool is_checked_at_once(const Function& function, const Instruction& asked) {
  for (const flow::Block& block : function.blocks) {
    for (std::size_t i = 0; i + 3 < block.instructions.size(); ++i) {
      const Instruction* all = &block.instructions[i];
      if (all == &asked) return all[1].op == Op::kConst && all[2].name == "eq" && all[3].op == Op::kAssume;
    }
  }
  return false;
}
}  // namespace

bool is_open_atom(const Function& function, const Instruction& each) {
  if (each.op == Op::kParam) return is_decided_by_caller(function, each);
  if (each.op == Op::kConst) return std::holds_alternative<flow::Unknown>(each.constant);
  if (each.op == Op::kCall) return each.name.starts_with("any_");
  if (each.op != Op::kOperator) return false;
  if (each.name == "dim") return !is_checked_at_once(function, each);
  return each.name == "size" || each.name == flow::kMoreElements || each.name == flow::kMayThrow;
}

std::size_t open_atoms(const flow::Module& module) {
  std::size_t out = 0;
  for (const Function& function : module.functions) {
    for (const flow::Block& block : function.blocks)
      out += static_cast<std::size_t>(
          std::count_if(block.instructions.begin(), block.instructions.end(),
                        [&](const Instruction& each) { return is_open_atom(function, each); }));
  }
  return out;
}

}  // namespace dtype_guard::oracle
