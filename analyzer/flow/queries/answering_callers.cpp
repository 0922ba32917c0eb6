#include "analyzer/flow/queries/answering_callers.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/program/consulted.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostCallers = 24;

// Theirs and their callers' too: what a caller gives back is answered for there. Nothing where they are many.
std::optional<std::set<std::uint32_t>> all_callers(std::uint32_t function, const Program& program) {
  std::set<std::uint32_t> out;
  std::vector<std::uint32_t> work = {function};
  const auto add = [&](std::uint32_t caller) {
    if (caller != function && out.insert(caller).second) work.push_back(caller);
  };
  while (!work.empty() && out.size() <= kMostCallers) {
    const std::uint32_t callee = work.back();
    work.pop_back();
    for (const std::uint32_t caller : program.callers.of(callee)) add(caller);
    for (const auto& [caller, call] : program.called_modules.calls_of(callee)) add(caller);
  }
  return out.size() > kMostCallers ? std::nullopt : std::optional(std::move(out));
}

bool names_dtype(const Instruction& each) {
  return std::any_of(each.args.begin(), each.args.end(),
                     [](const Argument& argument) { return argument.name == "dtype"; });
}

// To a dtype, or to another tensor's; also by a method of something that is not known.
bool is_cast(const Instruction& each) {
  if (each.op == Op::kCast) return !each.implicit;
  if (each.op != Op::kOperator && each.op != Op::kCall) return false;
  const std::size_t last = each.name.rfind("::");
  const std::string_view method =
      last == std::string::npos ? std::string_view(each.name) : std::string_view(each.name).substr(last + 2);
  return names_dtype(each) || is_named(Named::kCastMethod, method);
}

bool answers(const Instruction& each, const FunctionInfo& info) {
  if (each.op == Op::kSink || each.op == Op::kSetAutocast || is_cast(each)) return true;
  const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
  return op && is_contraction(op->name) && product_contract(op->name, each, info) != nullptr;
}

bool answers(std::uint32_t function, const FunctionIndex& index) {
  const Function& code = index.function(function);
  return std::any_of(code.blocks.begin(), code.blocks.end(), [&](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(),
                       [&](const Instruction& each) { return answers(each, index.info(function)); });
  });
}
}  // namespace

bool callers_answer(std::uint32_t function, const Program& program) {
  Consulted::note_flow();
  const FunctionIndex& index = program.functions;
  const auto callers = all_callers(function, program);
  if (!callers) return true;
  // What the function itself leads to is no caller's doing.
  const std::set<std::uint32_t> own = index.reached_from(function);
  std::set<std::uint32_t> near = *callers;
  for (const std::uint32_t caller : *callers) {
    for (const std::uint32_t each : index.reached_from(caller)) {
      if (!own.contains(each)) near.insert(each);
    }
  }
  return std::any_of(near.begin(), near.end(), [&](std::uint32_t each) { return answers(each, index); });
}

}  // namespace dtype_guard::flow
