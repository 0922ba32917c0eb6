// Between which numbers a number lies whose value is not known: what a size, std::min, std::max or std::clamp
// made of constants says. It is read off the definitions, so it holds wherever the value has got.
#include "analyzer/flow/engine/conditions/bounds.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/operators/shape_questions.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}  // namespace

Bounds bounds(const Activation& activation, const State& state, ValueId id, int depth) {
  constexpr int kMaxDepth = 6;
  const Instruction* definition = activation.info.definition(id);
  if (!definition || depth > kMaxDepth) return {};
  if (definition->op == Op::kConst) {
    const auto* number = std::get_if<std::int64_t>(&definition->constant);
    return number ? Bounds{*number, *number} : Bounds{};
  }
  if (definition->op != Op::kOperator) {  // a variable: where what it holds was computed, if that was here
    const Alternative* one = value(state, id).single();
    const bool is_whole = one && one->kind == Kind::kNumber && one->dtype == Dtype::kInt64;
    if (is_whole && one->has_number) return {one->number, one->number};
    const bool is_own = one && one->kind == Kind::kNumber && one->source &&
                        one->context == activation.context && one->source != id;
    return is_own ? bounds(activation, state, one->source, depth + 1) : Bounds{};
  }
  const ShapeQuestion* shape = find_shape_question(definition->name);
  if (shape && shape->never_negative) return {0, {}};
  const bool smaller = definition->name == kSmallerOf;
  if ((!smaller && definition->name != kLargerOf) || definition->args.size() != 2) return {};
  const Bounds a = bounds(activation, state, definition->args[0].value, depth + 1);
  const Bounds b = bounds(activation, state, definition->args[1].value, depth + 1);
  const auto both = [](const auto& x, const auto& y, auto pick) {
    return x && y ? std::optional(pick(*x, *y)) : std::nullopt;
  };
  const auto either = [](const auto& x, const auto& y, auto pick) {
    return x && y ? std::optional(pick(*x, *y)) : x ? x : y;
  };
  const auto low = [](std::int64_t x, std::int64_t y) { return std::min(x, y); };
  const auto high = [](std::int64_t x, std::int64_t y) { return std::max(x, y); };
  if (smaller) return {both(a.least, b.least, low), either(a.most, b.most, low)};
  return {either(a.least, b.least, high), both(a.most, b.most, high)};
}

// Whether a comparison holds whatever the numbers are within their bounds.
std::optional<bool> bounded_comparison(const Activation& activation, const State& state,
                                       const Instruction& comparison) {
  const std::string_view name = comparison.name;
  const Bounds a = bounds(activation, state, comparison.args[0].value);
  const Bounds b = bounds(activation, state, comparison.args[1].value);
  const bool is_below = a.most && b.least && *a.most < *b.least;
  const bool is_above = a.least && b.most && *a.least > *b.most;
  const bool is_at_most = a.most && b.least && *a.most <= *b.least;
  const bool is_at_least = a.least && b.most && *a.least >= *b.most;
  if ((name == "eq" || name == "ne") && (is_below || is_above)) return name == "ne";
  if (name == "lt" && (is_below || is_at_least)) return is_below;
  if (name == "ge" && (is_below || is_at_least)) return is_at_least;
  if (name == "gt" && (is_above || is_at_most)) return is_above;
  if (name == "le" && (is_above || is_at_most)) return is_at_most;
  return std::nullopt;
}

}  // namespace dtype_guard::flow
