// Joining abstract values and ranks: a lattice, whatever the order in which ways meet.
#include <array>
#include <string>
#include <vector>

#include "analyzer/flow/values/values.h"
#include "tests/oracle/properties.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {
namespace {
using flow::Alternative;
using flow::Rank;
using flow::SymbolSets;
using Kind = Alternative::Kind;

Rank some_rank(Random& random) {
  if (random.one_in(4)) return Rank::number();
  Rank out = Rank::exactly(static_cast<std::int64_t>(random.below(4)));
  if (random.one_in(2)) out = Rank::at_least(static_cast<std::int64_t>(random.below(3)));
  out.symbol = static_cast<flow::RankSymbol>(random.below(3));
  if (out.symbol) out.offset = static_cast<std::int8_t>(random.below(2));
  return out;
}

Alternative some_alternative(Random& random, SymbolSets& symbols) {
  constexpr std::array kDtypes = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32, Dtype::kInt64};
  constexpr std::array kKinds = {Kind::kTensor, Kind::kTensor, Kind::kTensor, Kind::kDtype,
                                 Kind::kNone,   Kind::kBool,   Kind::kObject, Kind::kUnknown};
  Alternative out = Alternative::of(random.of(kKinds));
  const bool has_dtype = out.kind == Kind::kTensor || out.kind == Kind::kDtype;
  if (has_dtype) out.dtype = random.of(kDtypes);
  if (out.kind == Kind::kObject) out.object = 1 + static_cast<flow::HeapId>(random.below(12));
  if (out.kind == Kind::kTensor) {
    out.rank = some_rank(random);
    out.origin = static_cast<flow::OriginId>(random.below(4));
    out.trail = out.origin * 2;
    out.assumed = random.one_in(3);
  }
  if (out.kind == Kind::kBool) {
    out.has_number = random.one_in(2);
    out.number = out.has_number && random.one_in(2);
    out.truth = random.one_in(2) ? flow::Truth::kSymbol : flow::Truth::kOther;
  }
  if (out.kind == Kind::kDtype) out.context = 1, out.source = static_cast<flow::ValueId>(random.below(3));
  out.uncertain = random.one_in(4);
  if (random.one_in(2)) out.symbols = symbols.of(static_cast<SymbolSets::Symbol>(1 + random.below(3)));
  if (random.one_in(4))
    out.symbols =
        symbols.unite(out.symbols, symbols.of(static_cast<SymbolSets::Symbol>(4 + random.below(2))));
  return out;
}

flow::Value some_value(Random& random, SymbolSets& symbols) {
  flow::Value out;
  for (std::size_t i = 1 + random.below(4); i > 0; --i)
    out = join(out, flow::Value(some_alternative(random, symbols)), symbols);
  return out;
}

// What joining must keep to, for values and for ranks alike.
template <class T, class Join>
void check_laws_of(const char* what, const T& a, const T& b, const T& c, const Join& join, Violations& out) {
  const auto must = [&](bool holds, const char* law) {
    if (!holds) out.push_back({"joins", std::string(what) + ": joining is not " + law});
  };
  const T both = join(a, b);
  must(join(a, a) == a, "idempotent");
  must(both == join(b, a), "commutative");
  must(join(both, c) == join(a, join(b, c)), "associative");
  must(join(both, a) == both && join(both, b) == both, "above each way");
}
}  // namespace

void check_joins(std::uint64_t seed, Violations& out) {
  Random random(seed * 0x9e3779b97f4a7c15U + 3);
  SymbolSets symbols;
  const Rank x = some_rank(random), y = some_rank(random), z = some_rank(random);
  check_laws_of(
      "ranks", x, y, z, [](const Rank& a, const Rank& b) { return flow::join(a, b); }, out);
  const flow::Value a = some_value(random, symbols), b = some_value(random, symbols),
                    c = some_value(random, symbols);
  check_laws_of(
      "values", a, b, c,
      [&](const flow::Value& one, const flow::Value& other) { return join(one, other, symbols); }, out);
}

}  // namespace dtype_guard::oracle
