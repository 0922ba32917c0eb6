#include "analyzer/flow/program/entered.h"

#include "analyzer/flow/ir/registered_names.h"

namespace dtype_guard::flow {

std::vector<std::uint32_t> Entered::find(std::uint32_t function) const {
  std::vector<std::uint32_t> out;
  if (is_registered_operator(index_.function(function).key)) return out;
  for (const Instruction* each : index_.effects(function).runs) {
    for (const std::uint32_t found : index_.may_run(*each)) {
      const bool is_lambda = index_.function(found).kind == FunctionKind::kLambda;
      if (each->op != Op::kClosure || is_lambda) out.push_back(found);
    }
  }
  return out;
}

}  // namespace dtype_guard::flow
