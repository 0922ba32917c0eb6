#include "analyzer/flow/engine/operations/told_sizes.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "analyzer/flow/engine/arguments.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

// As it was made: calls that it was handed to change nothing. What a constructor made may be another one when
// a method runs again.
const Origin* made(const Alternative& tensor, const MadeWhere& where) {
  const Origins& origins = where.origins;
  const Origin* origin = tensor.kind == Alternative::Kind::kTensor ? origins.find(tensor.origin) : nullptr;
  if (!origin || origin->kind != Origin::Kind::kSource || !origin->instruction) return nullptr;
  if (where.functions.function(origin->function).kind == FunctionKind::kConstructor) return nullptr;
  const std::vector<const Step*> path = origins.path(tensor.trail);
  const bool is_as_made = std::all_of(path.begin(), path.end(), [&](const Step* each) {
    return each->instruction == origin->instruction || each->op == "call";
  });
  return is_as_made ? origin : nullptr;
}

std::optional<std::int64_t> size_of(const Origin& origin, std::int64_t dim, const FunctionIndex& index) {
  const Operator* op = find_operator(origin.op);
  if (!op || op->arguments.empty() || op->result != ResultRule::kFactory) return std::nullopt;
  const auto given = std::find_if(origin.instruction->args.begin(), origin.instruction->args.end(),
                                  [&](const Argument& each) { return each.name == op->arguments.front(); });
  if (given == origin.instruction->args.end()) return std::nullopt;
  const FunctionInfo& info = index.info(origin.function);
  const Instruction* sizes = info.definition(given->value);
  if (!sizes || sizes->op != Op::kPack) return std::nullopt;
  const auto count = static_cast<std::int64_t>(sizes->args.size());
  const std::int64_t at = dim < 0 ? dim + count : dim;
  if (at < 0 || at >= count) return std::nullopt;
  const Instruction* size = info.definition(sizes->args[static_cast<std::size_t>(at)].value);
  const auto* number = size && size->op == Op::kConst ? std::get_if<std::int64_t>(&size->constant) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}
}  // namespace

std::optional<std::int64_t> told_size(std::string_view question, const Instruction& asked, const State& state,
                                      Memory& memory, const MadeWhere& where) {
  if (!is_named(Named::kCountAlong, question) || asked.args.size() != 2) return std::nullopt;
  const Alternative* dim = argument(state, asked, 1).single();
  if (!dim || !dim->has_number) return std::nullopt;
  std::optional<std::int64_t> out;
  for (const Alternative& each : memory.tensors(state, argument(state, asked, 0))) {
    const Origin* origin = made(each, where);
    const auto size = origin ? size_of(*origin, dim->number, where.functions) : std::nullopt;
    if (!size || (out && *out != *size)) return std::nullopt;
    out = size;
  }
  return out;
}

}  // namespace dtype_guard::flow
