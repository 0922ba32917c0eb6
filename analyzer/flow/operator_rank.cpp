// The number of dimensions of an operator's result. It matters because only a tensor of at least one
// dimension promotes another of its category.
#include <algorithm>
#include <cstdlib>

#include "analyzer/flow/operator_result.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

Rank rank_of(const std::vector<Alternative>& alternatives) {
  bool any = false;
  Rank out;
  for (const Alternative& each : alternatives) {
    if (each.kind == Kind::kNone) continue;
    const bool scalar = each.kind == Kind::kNumber || each.kind == Kind::kBool;
    const Rank rank = scalar ? Rank::number() : each.kind == Kind::kTensor ? each.rank : Rank{};
    out = any ? join(out, rank) : rank;
    any = true;
  }
  return any ? out : Rank::number();
}

Rank broadcast(Rank a, Rank b) {
  return {a.wrapped && b.wrapped, std::max(a.min, b.min), std::max(a.max, b.max)};
}

// `dim=d` on a tensor proves that it has at least d + 1 dimensions (or |d| counted from the end).
Rank proved_by_dim(Rank rank, const Value& dim) {
  const Alternative* one = dim.single();
  if (!one || one->kind != Kind::kNumber || !one->has_number) return rank;
  const std::int64_t least = one->number >= 0 ? one->number + 1 : -one->number;
  rank.min = std::max(rank.min, Rank::at_least(least).min);
  rank.max = std::max(rank.min, rank.max);
  return rank;
}
bool is_true(const Value& value) {
  const Alternative* one = value.single();
  return one && one->kind == Kind::kBool && one->has_number && one->number != 0;
}
}  // namespace

Rank result_rank(const Operator& op, const Instruction& instruction,
                 const std::function<Value(std::size_t)>& argument,
                 const std::function<std::vector<Value>(const Value&)>& elements,
                 const std::function<bool(const Value&)>& is_container,
                 const std::function<std::vector<Alternative>(std::size_t)>& tensors) {
  const auto position = [&](std::string_view name) {
    for (std::size_t i = 0; i < instruction.args.size(); ++i) {
      if (instruction.args[i].name == name) return i;
      if (instruction.args[i].name.empty() && i < op.arguments.size() && op.arguments[i] == name) return i;
    }
    return instruction.args.size();
  };
  const std::size_t dim = position("dim");
  const bool has_dim = dim < instruction.args.size();
  Rank first = instruction.args.empty() ? Rank{} : rank_of(tensors(0));
  if (has_dim) first = proved_by_dim(first, argument(dim));

  switch (op.rank) {
    case RankRule::kBroadcast: {
      Rank out = Rank::number();
      bool any = false;
      for (std::size_t i = 0; i < instruction.args.size(); ++i) {
        const std::string& given = instruction.args[i].name;
        const std::string& name = !given.empty() ? given : i < op.arguments.size() ? op.arguments[i] : given;
        if (std::find(op.promoting.begin(), op.promoting.end(), name) == op.promoting.end()) continue;
        out = any ? broadcast(out, rank_of(tensors(i))) : rank_of(tensors(i));
        any = true;
      }
      return any ? out : first;
    }
    case RankRule::kLikeFirst:
      return first;
    case RankRule::kReduceOrBroadcast:
    case RankRule::kReduce: {
      const std::size_t other = position("other");
      const bool elementwise = op.rank == RankRule::kReduceOrBroadcast && other < instruction.args.size();
      if (elementwise) return broadcast(first, rank_of(tensors(other)));
      const std::size_t keepdim = position("keepdim");
      if (keepdim < instruction.args.size() && is_true(argument(keepdim))) return first;
      if (!has_dim) return Rank::exactly(0);
      Rank out = first.plus(-1);
      out.max = first.max;  // keepdim
      return out;
    }
    case RankRule::kAtLeastOne:
      return Rank::at_least(1);
    case RankRule::kPlusOne:
      return first.wrapped ? Rank::exactly(1) : first.plus(1);
    case RankRule::kMinusOne:
      return first.plus(-1);
    case RankRule::kZero:
      return Rank::exactly(0);
    case RankRule::kFromShape: {
      const std::size_t size = std::min(position("size"), position("sizes"));
      if (size >= instruction.args.size()) return {};
      const Value shape = argument(size);
      if (is_container(shape)) return Rank::exactly(static_cast<std::int64_t>(elements(shape).size()));
      return {};
    }
    case RankRule::kUnknown:
      break;
  }
  return {};
}

}  // namespace dtype_guard::flow
