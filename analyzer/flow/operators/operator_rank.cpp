#include "analyzer/flow/operators/operator_rank.h"

#include <algorithm>
#include <utility>

#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

Rank rank_of_all(const std::vector<Alternative>& alternatives) {
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

Rank broadcast(const Rank& a, const Rank& b) {
  if (a.is_tied_to(b)) return a;
  if (a.wrapped || (!b.wrapped && !a.may_be_dimensioned())) return b;
  if (!b.may_be_dimensioned()) return a;
  return {false, std::max(a.min, b.min), std::max(a.max, b.max)};
}

Rank less(const Rank& rank, std::size_t dimensions) {
  Rank out = rank.plus(-static_cast<int>(dimensions));
  if (rank.min < dimensions) out.symbol = 0, out.offset = 0;  // a 0-dim tensor stays one
  return out;
}

Rank product(const Rank& a, const Rank& b) {
  Rank out;
  const bool matrices = a.min >= 2 && b.min >= 2;
  if (matrices) {
    out.min = std::max(a.min, b.min);
  } else if (a.min >= 2 || b.min >= 2) {
    out.min = static_cast<std::uint8_t>(std::max(a.min, b.min) - 1);  // with a vector
  }
  out.max = std::max(a.max, b.max);
  if (a.max <= 1 || b.max <= 1) out.max = less(out, 1).max;
  out.max = std::max(out.max, out.min);
  return out;
}

std::optional<bool> stated(const Value& value) {
  const Alternative* one = value.single();
  if (!one || one->kind != Kind::kBool || !one->has_number) return std::nullopt;
  return one->number != 0;
}

std::optional<std::int64_t> number(const Value& value) {
  const Alternative* one = value.single();
  if (!one || one->kind != Kind::kNumber || !one->has_number) return std::nullopt;
  return one->number;
}
}  // namespace

OperatorRank::OperatorRank(const Operator& op, const Instruction& instruction, RankInputs inputs)
    : op_(op), instruction_(instruction), inputs_(std::move(inputs)) {
  const std::size_t named = op.arguments.empty() ? 0 : position(op.arguments.front());
  if (named < instruction.args.size()) first_ = named;
}

std::size_t OperatorRank::position(std::string_view name) const {
  for (std::size_t i = 0; i < instruction_.args.size(); ++i) {
    if (instruction_.args[i].name == name) return i;
    if (instruction_.args[i].name.empty() && i < op_.arguments.size() && op_.arguments[i] == name) return i;
  }
  return instruction_.args.size();
}

bool OperatorRank::is_given(std::size_t position) const {
  if (position >= instruction_.args.size()) return false;
  const Value value = inputs_.argument(position);
  return !(value.single() && value.single()->kind == Kind::kNone);
}

Rank OperatorRank::rank_of(std::size_t position) const {
  if (position >= instruction_.args.size()) return {};
  const std::vector<Alternative> all = inputs_.tensors(inputs_.argument(position));
  const bool is_compared =  // and a tensor of bools, as it has a tensor's methods
      is_of_tensors_alone(op_) && std::any_of(all.begin(), all.end(), [](const Alternative& each) {
        return each.kind == Kind::kBool && !each.has_number;
      });
  return is_compared ? Rank{} : rank_of_all(all);
}

std::optional<std::vector<Rank>> OperatorRank::listed(std::size_t position) const {
  if (position >= instruction_.args.size()) return std::nullopt;
  const auto elements = inputs_.elements(inputs_.argument(position));
  if (!elements) return std::nullopt;
  std::vector<Rank> out;
  for (const Value& each : *elements) out.push_back(rank_of_all(inputs_.tensors(each)));
  return out;
}

// How many dimensions an argument names.
std::optional<std::size_t> OperatorRank::count(std::size_t position) const {
  const Value value = inputs_.argument(position);
  if (const auto elements = inputs_.elements(value)) return elements->size();
  return number(value) ? std::optional<std::size_t>(1) : std::nullopt;
}

// How many dimensions there must be for those that are named to be among them.
std::int64_t OperatorRank::highest(bool takes_scalars) const {
  std::int64_t out = 0;
  for (const std::string& name : op_.dims) {
    const std::size_t at = position(name);
    if (at >= instruction_.args.size()) continue;
    const Value value = inputs_.argument(at);
    for (const Value& each : inputs_.elements(value).value_or(std::vector<Value>{value})) {
      const std::optional<std::int64_t> d = number(each);
      if (!d) continue;
      const std::int64_t needed = *d >= 0 ? *d + 1 : -*d;
      if (needed > 1 || !takes_scalars) out = std::max(out, needed);
    }
  }
  return out;
}

Rank OperatorRank::of_first() const {
  if (op_.rank == RankRule::kListed) {
    const std::size_t dims = position("dims");
    const auto elements =
        dims < instruction_.args.size() ? inputs_.elements(inputs_.argument(dims)) : std::nullopt;
    return elements ? Rank::exactly(static_cast<std::int64_t>(elements->size())) : Rank{};
  }
  if (op_.rank == RankRule::kBroadcast || op_.rank == RankRule::kJoined) return {};
  const bool of_result = op_.rank == RankRule::kPlusOne;
  const std::int64_t named = of_result ? highest(false) - 1 : highest(op_.least == 0);
  return Rank::at_least(std::max<std::int64_t>(named, op_.least));
}

std::size_t OperatorRank::count_listed() const {
  const bool lists = op_.rank == RankRule::kJoined || op_.rank == RankRule::kPlusOne;
  const auto ranks = lists ? listed(first_) : std::nullopt;
  return ranks ? ranks->size() : 0;
}

// Tensors that are stacked have one rank. Those that are joined have dimensions, and as many as the others
// but for empty ones of one dimension, which are passed over.
Rank OperatorRank::of_listed(std::size_t which) const {
  const std::vector<Rank> all = listed(first_).value_or(std::vector<Rank>{});
  const bool joins = op_.rank == RankRule::kJoined;
  Rank out = Rank::at_least(joins ? 1 : std::max<std::int64_t>(highest(false) - 1, 0));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == which || all[i].wrapped || (joins && all[i].min < 2)) continue;
    const bool may_be_passed_over = joins && all[which].min < 2;
    const Rank like = may_be_passed_over ? Rank{false, 1, all[i].max} : Rank{false, all[i].min, all[i].max};
    out = meet(out, like).value_or(out);
  }
  return out;
}

Rank OperatorRank::reduced(const Rank& first) const {
  const std::size_t keepdim = position("keepdim");
  const std::optional<bool> keeps =
      keepdim < instruction_.args.size() ? stated(inputs_.argument(keepdim)) : std::optional(false);
  if (keeps == true) return first;
  const std::size_t dim = position("dim");
  if (!is_given(dim)) return keeps ? Rank::exactly(0) : Rank{false, 0, first.max};
  const std::optional<std::size_t> dimensions = count(dim);
  if (!dimensions || *dimensions == 0) return {false, 0, first.max};  // an empty list may stand for all
  const Rank without = less(first, *dimensions);
  return keeps ? without : Rank{false, without.min, first.max};
}

Rank OperatorRank::from_shape(const Rank& first) const {
  for (const LibraryName& each : kLibraryNames) {
    if (each.as != Named::kShapeArgument) continue;
    if (const std::size_t at = position(each.name); at < instruction_.args.size())
      return inputs_.length(inputs_.argument(at));
  }
  const std::size_t copies = position("dims");  // tile, whose tensor may have more
  if (copies < instruction_.args.size()) {
    const Rank length = inputs_.length(inputs_.argument(copies));
    return length.is_exact() ? broadcast(first, length) : Rank{};
  }
  return {};
}

// What takes no part in promotion has dimensions all the same: a condition, a mask.
Rank OperatorRank::broadcast_all(const Rank& first) const {
  Rank out = Rank::number();
  bool any = false;
  for (std::size_t i = 0; i < instruction_.args.size(); ++i) {
    const std::string& given = instruction_.args[i].name;
    const std::string& name = !given.empty() ? given : i < op_.arguments.size() ? op_.arguments[i] : given;
    const bool promotes = std::find(op_.promoting.begin(), op_.promoting.end(), name) != op_.promoting.end();
    if (!promotes && !is_named(Named::kMaskArgument, name)) continue;
    Rank own = rank_of(i);
    if (!promotes && own.wrapped) own = {};  // `unknown < 0` is a tensor here
    out = any ? broadcast(out, own) : own;
    any = true;
  }
  if (!any) return first;
  return op_.promoting.empty() ? broadcast(first, out) : out;
}

// All tensors that are stacked have the same.
Rank OperatorRank::one_more(const Rank& first) const {
  const auto ranks = listed(first_);
  std::optional<Rank> one = ranks ? std::optional(Rank{}) : std::optional(first);
  for (const Rank& each : ranks.value_or(std::vector<Rank>{})) {
    if (one && !one->symbol) std::tie(one->symbol, one->offset) = std::tie(each.symbol, each.offset);
    if (one) one = meet(*one, each);
  }
  if (!one) return Rank::at_least(1);
  if (one->wrapped) return Rank::exactly(1);
  const Rank out = one->plus(1);
  return meet(out, Rank::at_least(highest(false))).value_or(out);
}

// All tensors that are joined have the same, but empty ones of one dimension, which are passed over.
Rank OperatorRank::joined() const {
  Rank out = Rank::at_least(1);
  const auto ranks = listed(first_);
  for (const Rank& each : ranks.value_or(std::vector<Rank>{})) {
    const Rank counted = each.min >= 2 ? each : Rank::at_least(1);
    out = meet(counted, out).value_or(out);
  }
  return meet(out, Rank::at_least(highest(false))).value_or(out);
}

// A lowered call says how many dimensions its equation names, and whether there may be more.
Rank OperatorRank::stated_rank() const {
  const std::size_t at = position(name_of(Named::kDimensions));
  const std::size_t more = position(name_of(Named::kMoreDimensions));
  const auto stated = at < instruction_.args.size() ? number(inputs_.argument(at)) : std::nullopt;
  if (!stated) return {};
  return more < instruction_.args.size() ? Rank::at_least(*stated) : Rank::exactly(*stated);
}

Rank OperatorRank::result() const {
  Rank first = rank_of(first_);
  if (!first.wrapped) first = meet(first, of_first()).value_or(first);
  switch (op_.rank) {
    case RankRule::kBroadcast:
      return broadcast_all(first);
    case RankRule::kLikeFirst:
    case RankRule::kListed:
      return first;
    case RankRule::kLikeFirstAlong:
      return is_given(position("dim")) ? first : Rank::exactly(1);
    case RankRule::kLikeOther:
      return rank_of(position("other"));
    case RankRule::kReduceOrBroadcast: {
      const std::size_t other = position("other");
      return other < instruction_.args.size() ? broadcast(first, rank_of(other)) : reduced(first);
    }
    case RankRule::kReduce:
      return reduced(first);
    case RankRule::kStated:
      return stated_rank();
    case RankRule::kAtLeastOne:
      return Rank::at_least(1);
    case RankRule::kPlusOne:
      return one_more(first);
    case RankRule::kMinusOne:
      return less(first, 1);
    case RankRule::kSqueezed: {
      const std::size_t dim = position("dim");
      const auto dimensions = is_given(dim) ? count(dim) : std::nullopt;
      return {false, dimensions ? less(first, *dimensions).min : std::uint8_t{0}, first.max};
    }
    case RankRule::kJoined:
      return joined();
    case RankRule::kMatmul: {
      const std::size_t other =
          op_.arguments.size() > 1 ? position(op_.arguments[1]) : instruction_.args.size();
      const Rank right = rank_of(other);
      return product(first, meet(right, Rank::at_least(1)).value_or(right));
    }
    case RankRule::kZero:
      return Rank::exactly(0);
    case RankRule::kOne:
      return Rank::exactly(1);
    case RankRule::kTwo:
      return Rank::exactly(2);
    case RankRule::kFromShape:
      return from_shape(first);
    case RankRule::kFromData:
      if (first_ < instruction_.args.size() && inputs_.is_list(inputs_.argument(first_)))
        return Rank::at_least(1);
      return first.wrapped ? Rank::exactly(0) : first;
    case RankRule::kUnknown:
      break;
  }
  return {};
}

}  // namespace dtype_guard::flow
