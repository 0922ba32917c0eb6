// Ranks as a program proves them: by what it asks, checks and calls. What is proved holds from there on, and
// for every value that is known to have the same rank (ranks.h).
#include "analyzer/flow/engine/conditions/proved_ranks.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/values/ranks.h"
#include "rules/contracts/roles.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// The numbers for which a comparison with `n` has that truth; nothing where they are no interval.
std::optional<Rank> interval(std::string_view name, std::int64_t n, bool wanted) {
  if (!wanted) {
    const std::pair<std::string_view, std::string_view> opposites[] = {
        {"eq", "ne"}, {"ne", "eq"}, {"lt", "ge"}, {"ge", "lt"}, {"gt", "le"}, {"le", "gt"}};
    for (const auto& [one, other] : opposites) {
      if (name == one) return interval(other, n, true);
    }
    return std::nullopt;
  }
  if (n < 0 || n >= Rank::kMany) return std::nullopt;
  if (name == "eq") return Rank::exactly(n);
  if (name == "ge") return Rank::at_least(n);
  if (name == "gt") return Rank::at_least(n + 1);
  if (name == "ne" && n == 0) return Rank::at_least(1);
  if (name == "le") return Rank{false, 0, static_cast<std::uint8_t>(n)};
  if (name == "lt" && n > 0) return Rank{false, 0, static_cast<std::uint8_t>(n - 1)};
  return std::nullopt;
}

// 4 == q.dim() is q.dim() == 4.
std::string_view exchanged(std::string_view name) {
  return name == "lt" ? "gt" : name == "gt" ? "lt" : name == "le" ? "ge" : name == "ge" ? "le" : name;
}
}  // namespace

RankInputs Ranks::rank_inputs(const Instruction& instruction, State& state) {
  return {[&](std::size_t i) { return argument(state, instruction, i); },
          [&](const Value& value) { return memory_.tensors(state, value); },
          [&](const Value& value) -> std::optional<std::vector<Value>> {
            const Alternative* one = value.single();
            if (one && one->kind == Kind::kReference) return std::nullopt;
            if (!is_container(state, value) || !state.find(one->object)->rest.is_bottom())
              return std::nullopt;
            return memory_.elements(state, value);
          },
          [&](const Value& value) { return length(state, value); },
          [&](const Value& value) { return is_container(state, value); }};
}

Rank Ranks::length(const State& state, const Value& list) {
  const Alternative* one = list.single();
  if (!one) return {};
  if (is_list_of_sizes(*one)) return state.ranks.known(one->rank);
  if (!is_container(state, list)) return {};
  const HeapObject& object = *state.find(one->object);
  if (object.rest.is_bottom())
    return Rank::exactly(static_cast<std::int64_t>(memory_.elements(state, list).size()));
  // Lists of sizes only grow, so that those that are known are among them.
  const auto is_element = [](const auto& cell) { return cell.first.kind == Key::Kind::kIndex; };
  return Rank::at_least(object.more + std::count_if(object.cells.begin(), object.cells.end(), is_element));
}

// Of several tensors those stay that may have so many dimensions.
Value Ranks::keep_within(const Activation& activation, State& state, Value tensor, const Rank& interval) {
  if (tensor.size() < 2) return tensor;
  const auto is_excluded = [&](const Alternative& each) {
    return each.kind == Kind::kTensor && !each.rank.wrapped && !meet(state.ranks.known(each.rank), interval);
  };
  std::vector<Alternative> kept, left_out;
  for (const Alternative& each : tensor) {
    const Value held = each.kind == Kind::kHandle ? shared_contents(state, Value(each)) : Value(each);
    const bool stays = held.is_bottom() || !std::all_of(held.begin(), held.end(), is_excluded);
    (stays ? kept : left_out).push_back(each);
  }
  if (kept.empty() || left_out.empty()) return tensor;
  add_ways(state.guards, kept, left_out, activation.context, activation.block, symbols_);
  const Value out = left_of(tensor, std::move(kept));
  replace_everywhere(state, tensor, out);
  return out;
}

// Every tensor that it may be has one rank, or it is none at all.
bool Ranks::learn(const Activation& activation, State& state, const Value& tensor, const Rank& interval) {
  const std::vector<Alternative> all =
      memory_.tensors(state, keep_within(activation, state, tensor, interval));
  const Alternative* one = nullptr;
  for (const Alternative& each : all) {
    if (each.kind == Kind::kNone) continue;
    if (each.kind != Kind::kTensor || (one && !one->rank.is_tied_to(each.rank))) return true;
    one = &each;
  }
  return !one || one->rank.wrapped || !one->rank.symbol || state.ranks.learn(one->rank, interval);
}

void Ranks::prove_ranks(const Activation& activation, const Operator& op, const Instruction& instruction,
                        State& state) {
  if (instruction.args.empty()) return;
  const OperatorRank rank(op, instruction, rank_inputs(instruction, state));
  const auto prove = [&](const Value& tensor, const Rank& proved) {
    const bool says_something = proved.min > 0 || proved.max < Rank::kMany;
    if (says_something) learn(activation, state, tensor, proved);
  };
  const std::size_t listed = rank.count_listed();
  if (listed == 0) prove(argument(state, instruction, rank.first()), rank.of_first());
  for (std::size_t i = 0; i < listed; ++i) {
    const Value list = argument(state, instruction, rank.first());
    prove(memory_.elements(state, list)[i], rank.of_listed(i));
  }
}

// What attention is computed of has dimensions, and so has what goes into a layer.
RankFacts Ranks::proved_by(const SinkRecord& record) const {
  RankFacts out;
  for (const SinkOperand& operand : record.operands) {
    const bool layers = record.place == SinkPlace::kLayer && &operand == &record.operands.front();
    const bool input = layers || role_kind(operand.role) == RoleKind::kInput;
    if (!input || operand.alternatives.empty()) continue;
    const Rank& rank = operand.alternatives.front().rank;
    const bool one = std::all_of(
        operand.alternatives.begin(), operand.alternatives.end(),
        [&](const Alternative& each) { return each.kind == Kind::kTensor && each.rank.is_tied_to(rank); });
    if (one && rank.may_be_zero() && !rounds_.is_of_rounds(rank.symbol)) out.learn(rank, Rank::at_least(1));
  }
  return out;
}

// q.dim() == 4, q.sizes().size() >= 2
bool refine_count(State& state, const Instruction& comparison, bool wanted) {
  if (comparison.args.size() != 2) return true;
  for (const std::size_t side : {0, 1}) {
    const Alternative* counted = argument(state, comparison, side).single();
    const Alternative* with = argument(state, comparison, 1 - side).single();
    const bool numbers = counted && with && counted->kind == Kind::kNumber && with->kind == Kind::kNumber &&
                         !is_list_of_sizes(*counted);
    if (!numbers || counted->has_number || !counted->rank.symbol || !with->has_number) continue;
    const std::string_view name = comparison.name;
    const auto known = interval(side == 0 ? name : exchanged(name), with->number, wanted);
    const Rank rank = counted->rank;
    if (known && !state.ranks.learn(rank, *known)) return false;
  }
  return true;
}

// A rank that is not known is the rank of that value; of one that a loop makes, until its next round.
Rank Ranks::own_rank(const Activation& activation, const Instruction& instruction, Rank rank) {
  if (rank.wrapped || rank.symbol || rank.is_exact() || root_.objects_in_making > 0) return rank;
  for (const Activation* each = &activation; each; each = each->caller) {
    if (each->code.kind == FunctionKind::kLambda) return rank;
  }
  rank.symbol = ids_.rank(activation.context, &instruction);
  rounds_.note_round(activation, rank.symbol);
  return rank;
}

// How many dimensions there are, as a number or as the length of a list of sizes.
Alternative Ranks::dimensions_asked(const Activation& activation, std::string_view question,
                                    const Instruction& instruction, State& state) {
  Alternative number = Alternative::integer(std::nullopt);
  const Value asked = argument(state, instruction, 0);
  const bool of_list = question == "length";
  const bool counts = of_list || is_named(Named::kCountsDimensions, question);
  if (!counts && !is_named(Named::kListsSizes, question)) {
    if (!is_named(Named::kOneSize, question)) return number;
    std::int64_t least = 1;
    const Alternative* dim = instruction.args.size() > 1 ? argument(state, instruction, 1).single() : nullptr;
    if (!dim) return number;
    if (dim->has_number) least = dim->number >= 0 ? dim->number + 1 : -dim->number;
    learn(activation, state, asked, Rank::at_least(least));
    return number;
  }
  const std::vector<Alternative> of = of_list ? std::vector<Alternative>{} : memory_.tensors(state, asked);
  const bool one = of.size() == 1 && of[0].kind == Kind::kTensor && !of[0].rank.wrapped;
  const Rank rank = of_list ? length(state, asked) : one ? of[0].rank : Rank{};
  if (!counts) return sizes_of(rank);
  if (rank.is_exact()) return Alternative::integer(rank.min);
  number.rank = rank;
  return number;
}

}  // namespace dtype_guard::flow
