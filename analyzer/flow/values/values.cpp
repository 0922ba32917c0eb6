#include "analyzer/flow/values/values.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <tuple>

#include "analyzer/flow/values/symbols.h"

namespace dtype_guard::flow {

Rank Rank::exactly(std::int64_t dimensions) {
  const auto count = static_cast<std::uint8_t>(std::clamp<std::int64_t>(dimensions, 0, kMany));
  return {false, count, count};
}

Rank Rank::at_least(std::int64_t dimensions) {
  return {false, static_cast<std::uint8_t>(std::clamp<std::int64_t>(dimensions, 0, kMany)), kMany};
}

Rank Rank::plus(int dimensions) const {
  const auto moved = [&](int count) {
    return static_cast<std::uint8_t>(std::clamp(count + dimensions, 0, int{kMany}));
  };
  Rank out{false, moved(min), max == kMany ? max : moved(max)};
  const int shift = offset + dimensions;
  if (std::abs(shift) <= kMany) out.symbol = symbol;
  if (out.symbol) out.offset = static_cast<std::int8_t>(shift);
  return out;
}

Rank join(Rank a, Rank b) {
  Rank out{a.wrapped && b.wrapped, std::min(a.min, b.min), std::max(a.max, b.max)};
  if (a.is_tied_to(b)) std::tie(out.symbol, out.offset) = std::tie(a.symbol, a.offset);
  return out;
}

std::optional<Rank> meet(Rank a, const Rank& b) {
  a.min = std::max(a.min, b.min);
  a.max = std::min(a.max, b.max);
  return a.min <= a.max ? std::optional(a) : std::nullopt;
}

Alternative Alternative::of(Kind kind) {
  Alternative out;
  out.kind = kind;
  return out;
}

Alternative Alternative::tensor(Dtype dtype, Rank rank, OriginId origin, StepId trail) {
  Alternative out = of(Kind::kTensor);
  out.dtype = dtype;
  out.rank = rank;
  out.origin = origin;
  out.trail = trail;
  out.uncertain = dtype == Dtype::kUndefined;
  return out;
}

Alternative Alternative::boolean(std::optional<bool> value) {
  Alternative out = of(Kind::kBool);
  out.has_number = value.has_value();
  out.number = value.value_or(false);
  return out;
}

Alternative Alternative::integer(std::optional<std::int64_t> value) {
  Alternative out = of(Kind::kNumber);
  out.dtype = Dtype::kInt64;
  out.has_number = value.has_value();
  out.number = value.value_or(0);
  return out;
}

Alternative Alternative::text(std::string_view value) {
  Alternative out = of(Kind::kString);
  out.has_number = true;
  out.number = static_cast<std::int64_t>(std::hash<std::string_view>()(value));
  return out;
}

Alternative Alternative::real() {
  Alternative out = of(Kind::kNumber);
  out.dtype = Dtype::kFloat64;
  return out;
}

Alternative Alternative::a_dtype(Dtype dtype) {
  Alternative out = of(Kind::kDtype);
  out.dtype = dtype;
  return out;
}

Alternative Alternative::at(Kind kind, HeapId object, Key key) {
  Alternative out = of(kind);
  out.object = object;
  out.key = key;
  return out;
}

namespace {
auto identity(const Alternative& a) {
  return std::tuple(a.kind, a.dtype, a.object, a.key, a.function, a.has_number, a.number, a.origin);
}
bool comes_before(const Alternative& a, const Alternative& b) {
  if (a.kind != b.kind) return a.kind < b.kind;  // which most differ in, or in the next
  if (a.dtype != b.dtype) return a.dtype < b.dtype;
  return identity(a) < identity(b);
}
bool is_tensor(const Alternative& a) { return a.kind == Alternative::Kind::kTensor; }

void absorb(Alternative& into, const Alternative& more, SymbolSets& symbols) {
  into.rank = join(into.rank, more.rank);
  into.assumed = into.assumed || more.assumed;
  into.trail = std::min(into.trail, more.trail);
  into.told = std::min(into.told, more.told);
  into.merged = into.merged || more.merged;
  into.handed_in = into.handed_in || more.handed_in;
  into.of_several = into.of_several || more.of_several;
  into.displaced = into.displaced && more.displaced;
  into.elsewhere = into.elsewhere || more.elsewhere || into.uncertain != more.uncertain;
  into.lineage |= more.lineage;
  into.products = symbols.unite(into.products, more.products);
  if (into.truth != more.truth || into.symbols != more.symbols) into.truth = Truth::kOther;
  if (!is_tensor(into)) {
    into.symbols = symbols.either(into.symbols, more.symbols);
  } else if (into.uncertain == more.uncertain) {
    into.symbols = symbols.intersect(into.symbols, more.symbols);
  } else if (into.uncertain) {  // it is certain under the other's conditions
    into.symbols = more.symbols;
  }
  into.uncertain = into.uncertain && more.uncertain;
  if (into.context != more.context || into.source != more.source) into.context = into.source = 0;
}
}  // namespace

bool is_held(const Alternative& each) {
  return each.kind != Alternative::Kind::kBool && each.kind != Alternative::Kind::kNumber;
}

bool same_place_in_order(const Alternative& a, const Alternative& b) { return identity(a) == identity(b); }

// That a later round of a loop brings a tensor which looks like the first's is no reason to look at it again.
bool operator==(const Alternative& a, const Alternative& b) {
  return identity(a) == identity(b) && a.rank == b.rank && a.uncertain == b.uncertain &&
         a.assumed == b.assumed && a.handed_in == b.handed_in && a.merged == b.merged &&
         a.displaced == b.displaced && a.elsewhere == b.elsewhere && a.trail == b.trail && a.told == b.told &&
         a.lineage == b.lineage && a.products == b.products && a.symbols == b.symbols && a.truth == b.truth &&
         a.context == b.context && a.source == b.source;
}

Value::Value(std::vector<Alternative> alternatives) {
  if (alternatives.empty()) return;
  if (!std::is_sorted(alternatives.begin(), alternatives.end(), comes_before))
    std::sort(alternatives.begin(), alternatives.end(), comes_before);
  set_ = SharedRow<Alternative>(alternatives);
}

Value Value::unknown(SymbolSetId symbols, Truth truth) {
  Alternative out = Alternative::of(Alternative::Kind::kUnknown);
  out.uncertain = true;
  out.symbols = symbols;
  out.truth = truth;
  return Value(out);
}

bool operator==(const Value& a, const Value& b) {
  return a.same(b) || std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool has(const Value& value, const Alternative& wanted) {
  return std::any_of(value.begin(), value.end(), [&](const Alternative& each) {
    return same_place_in_order(each, wanted) && (!each.uncertain || wanted.uncertain);
  });
}

namespace {
// One for all neighbours that are alike.
template <typename Alike>
void merge_neighbours(std::vector<Alternative>& all, Alike alike, SymbolSets& symbols) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (alike(all[kept], all[i])) {
      absorb(all[kept], all[i], symbols);
    } else {
      all[++kept] = all[i];
    }
  }
  all.resize(kept + 1);
}

// Tensors that differ in where they come from alone: what they are is worth more than every place. Once it is
// done for a value it is done for all that it is joined with, so that the order does not matter.
void merge_places(std::vector<Alternative>& all, SymbolSets& symbols) {
  const auto is_merged = [](const Alternative& each) { return each.merged; };
  if (all.size() <= kMaxAlternatives && std::none_of(all.begin(), all.end(), is_merged)) return;
  const auto are_of_one_dtype = [](const Alternative& a, const Alternative& b) {
    return is_tensor(a) && is_tensor(b) && a.dtype == b.dtype;
  };
  merge_neighbours(all, are_of_one_dtype, symbols);
  for (Alternative& each : all) each.merged = is_tensor(each);
}
}  // namespace

Value join(const Value& a, const Value& b, SymbolSets& symbols) {
  if (a.is_bottom() || a.same(b)) return a.is_bottom() ? b : a;
  if (b.is_bottom()) return a;
  static thread_local std::vector<Alternative> out;  // one for all joins: what is kept of it is copied
  out.clear();
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out), comes_before);
  merge_neighbours(out, same_place_in_order, symbols);
  merge_places(out, symbols);
  if (out.size() > kMaxAlternatives || out.front().kind == Alternative::Kind::kTop) {
    Alternative top = Alternative::of(Alternative::Kind::kTop);
    top.uncertain = true;
    out.assign(1, top);
  }
  return Value::of_sorted(out);
}

bool is_displaced(const Alternative& each, const std::vector<Alternative>& all) {
  return each.displaced && std::any_of(all.begin(), all.end(), [&](const Alternative& other) {
           return is_tensor(other) && other.dtype == each.dtype && !other.displaced && !other.uncertain;
         });
}

Alternative only_elsewhere(Alternative each) {
  each.uncertain = true;
  each.elsewhere = false;
  each.symbols = 0;
  return each;
}

Value of_several(const Value& joined, const std::vector<const Value*>& ways) {
  std::vector<const Value*> apart;
  for (const Value* each : ways) {
    const bool is_new =
        std::none_of(apart.begin(), apart.end(), [&](const Value* other) { return each->same(*other); });
    if (is_new && !each->is_bottom()) apart.push_back(each);
  }
  const auto is_shared = [&](const Alternative& wanted) {
    return std::count_if(apart.begin(), apart.end(), [&](const Value* way) {
             return std::any_of(way->begin(), way->end(),
                                [&](const Alternative& each) { return same_place_in_order(each, wanted); });
           }) > 1;
  };
  const auto is_newly_shared = [&](const Alternative& each) {
    return is_tensor(each) && !each.of_several && is_shared(each);
  };
  if (std::none_of(joined.begin(), joined.end(), is_newly_shared)) return joined;
  std::vector<Alternative> out = joined.alternatives();
  for (Alternative& each : out) each.of_several = each.of_several || is_newly_shared(each);
  return Value(std::move(out));
}

std::optional<bool> truth(const Value& value) {
  std::optional<bool> out;
  for (const Alternative& each : value) {
    const bool is_scalar = each.kind == Alternative::Kind::kBool || each.kind == Alternative::Kind::kNumber;
    std::optional<bool> one;
    if (is_scalar && each.has_number) one = each.number != 0;
    if (each.kind == Alternative::Kind::kNone) one = false;
    if (!one || (out && *out != *one)) return std::nullopt;
    out = one;
  }
  return out;
}

SymbolSetId symbols_of(const Value& value, SymbolSets& symbols) {
  SymbolSetId out = 0;
  for (const Alternative& each : value) out = symbols.unite(out, symbols.deciding(each.symbols));
  return out;
}

Truth truth_of(const Value& value) {
  const Truth first = value.is_bottom() ? Truth::kOther : value.begin()->truth;
  const auto same = [&](const Alternative& each) {
    return each.truth == first && each.symbols == value.begin()->symbols;
  };
  return std::all_of(value.begin(), value.end(), same) ? first : Truth::kOther;
}

SymbolSetId condition_of(const Value& value, bool is_true, SymbolSets& symbols) {
  const SymbolSetId all = symbols_of(value, symbols);
  const Truth truth = truth_of(value);
  return truth == Truth::kOther ? all : symbols.condition(all, (truth == Truth::kSymbol) == is_true);
}

}  // namespace dtype_guard::flow
