// Joins obey the laws of a join: commutative, associative, idempotent; otherwise the engine need not settle,
// and its answer could depend on the order of visits.
#include "analyzer/flow/values/origins.h"
#include "analyzer/flow/values/symbols.h"
#include "analyzer/flow/values/values.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

std::vector<Value> samples(SymbolSets& symbols) {
  const SymbolSetId one = symbols.of(1);
  const SymbolSetId two = symbols.unite(symbols.of(1), symbols.of(2));
  Alternative half = Alternative::tensor(Dtype::kFloat16, Rank::exactly(4));
  Alternative tagged = half;
  tagged.symbols = one;
  tagged.uncertain = true;
  Alternative wide = Alternative::tensor(Dtype::kFloat32, Rank::at_least(1), 3, 7);
  Alternative again = Alternative::tensor(Dtype::kFloat32, Rank{}, 3, 5);
  again.symbols = two;
  Alternative truth_here = Alternative::boolean(true);
  truth_here.symbols = one;
  truth_here.context = 4;
  truth_here.source = 9;
  Alternative other = truth_here;
  other.source = 10;
  std::vector<Alternative> ways;
  for (OriginId origin = 10; origin < 10 + kMaxAlternatives; ++origin)
    ways.push_back(Alternative::tensor(Dtype::kFloat32, Rank::exactly(2), origin, origin));
  std::vector<Value> out = {Value(),
                            Value(half),
                            Value(tagged),
                            Value(wide),
                            Value(again),
                            Value(truth_here),
                            Value(other),
                            Value::unknown(two),
                            Value::unknown(),
                            Value::none(),
                            Value({half, wide}),
                            Value(ways),
                            Value({tagged, again}),
                            Value(Alternative::integer(3)),
                            Value(Alternative::a_dtype(Dtype::kBFloat16))};
  std::vector<Alternative> many;
  for (int i = 0; i < 6; ++i) many.push_back(Alternative::integer(i));
  out.emplace_back(many);
  return out;
}

TEST_CASE("joining values is commutative, associative and idempotent") {
  SymbolSets symbols;
  const std::vector<Value> all = samples(symbols);
  for (const Value& a : all) {
    CHECK(join(a, a, symbols) == a);
    for (const Value& b : all) {
      const Value ab = join(a, b, symbols);
      CHECK(ab == join(b, a, symbols));
      CHECK(join(ab, a, symbols) == ab);
      for (const Value& c : all) CHECK(join(ab, c, symbols) == join(a, join(b, c, symbols), symbols));
    }
  }
}

TEST_CASE("more than eight alternatives widen to top and stay there") {
  SymbolSets symbols;
  Value value;
  for (int i = 0; i < 8; ++i) value = join(value, Value(Alternative::integer(i)), symbols);
  CHECK(value.size() == 8);
  value = join(value, Value(Alternative::integer(8)), symbols);
  REQUIRE(value.single());
  CHECK(value.single()->kind == Alternative::Kind::kTop);
  CHECK(join(value, Value::none(), symbols) == value);
}

TEST_CASE("tensors of more origins than are told apart keep their dtypes") {
  SymbolSets symbols;
  Value value(Alternative::tensor(Dtype::kFloat16, Rank::exactly(2)));
  for (OriginId origin = 20; origin > 1; --origin)
    value =
        join(value, Value(Alternative::tensor(Dtype::kFloat32, Rank::exactly(2), origin, origin)), symbols);
  REQUIRE(value.size() == 2);
  CHECK(value.begin()->dtype == Dtype::kFloat16);
  CHECK(value.alternatives().back().dtype == Dtype::kFloat32);
  CHECK(value.alternatives().back().origin == 2);
}

TEST_CASE("ranks join to the interval that holds both") {
  CHECK(join(Rank::exactly(1), Rank::exactly(4)) == Rank{false, 1, 4});
  CHECK(join(Rank::number(), Rank::number()).wrapped);
  CHECK_FALSE(join(Rank::number(), Rank::exactly(0)).wrapped);
  CHECK(Rank::at_least(2).plus(-3) == Rank{false, 0, Rank::kMany});
}

TEST_CASE("of several paths from an origin the shortest is kept") {
  Origins origins;
  Instruction first;
  Instruction long_way;
  Instruction end;
  const OriginId origin = origins.origin(
      {Origin::Kind::kPromotion, 0, &first, "mul", Dtype::kFloat16, Dtype::kFloat32, false, 0, ""});
  const auto step = [&](StepId parent, const Instruction& at) {
    return origins.step(parent, origin, {0, 0, 0, &at, "op", Dtype::kFloat16, Dtype::kFloat32, ""});
  };
  const StepId start = step(0, first);
  const StepId last = step(step(start, long_way), end);
  CHECK(origins.path(last).size() == 3);
  CHECK(step(start, end) == last);
  CHECK(origins.path(last).size() == 2);
  step(last, end);  // a loop: no longer way, and no cycle
  CHECK(origins.path(last).size() == 2);
}

TEST_CASE("conditions agree, contradict each other or may be correlated") {
  using Relation = SymbolSets::Relation;
  SymbolSets symbols;
  for (const SymbolSets::Symbol each : {1U, 2U}) symbols.set_nature(each, Nature::kSetting);
  const SymbolSetId decides = symbols.of(1), other = symbols.of(2);
  const SymbolSetId is_true = symbols.condition(decides, true), is_false = symbols.condition(decides, false);
  CHECK(symbols.relation(is_true, is_true) == Relation::kAgree);
  CHECK(symbols.relation(is_true, is_false) == Relation::kContradict);
  CHECK(symbols.relation(is_true, decides) == Relation::kCorrelated);
  CHECK(symbols.relation(is_true, other) == Relation::kIndependent);
  CHECK(symbols.relation(symbols.unite(is_true, other), symbols.unite(is_true, other)) ==
        Relation::kCorrelated);
  // Of several symbols none is known to be true.
  const SymbolSetId both = symbols.unite(decides, other);
  CHECK(symbols.condition(both, true) == both);
  CHECK(symbols.unite(is_true, is_false) == decides);
  CHECK(symbols.intersect(is_true, is_false) == decides);
  CHECK(symbols.intersect(symbols.unite(is_true, other), is_true) == is_true);
  CHECK(symbols.intersect(is_true, other) == 0);
  CHECK(symbols.deciding(symbols.unite(is_true, other)) == both);
  CHECK(symbols.has(is_true, 1));
  CHECK_FALSE(symbols.has(is_true, 2));
}

TEST_CASE("which conditions may be correlated depends on their nature") {
  using Relation = SymbolSets::Relation;
  SymbolSets symbols;
  const std::vector<Nature> natures = {Nature::kAnswer, Nature::kShape, Nature::kArgument, Nature::kSetting};
  std::vector<SymbolSetId> one, another;
  for (SymbolSets::Symbol i = 0; i < natures.size(); ++i) {
    symbols.set_nature(2 * i, natures[i]);
    symbols.set_nature(2 * i + 1, natures[i]);
    one.push_back(symbols.of(2 * i));
    another.push_back(symbols.of(2 * i + 1));
  }
  const bool together[4][4] = {{true, true, true, true},
                               {true, true, true, false},
                               {true, true, false, false},
                               {true, false, false, false}};
  for (std::size_t a = 0; a < one.size(); ++a) {
    for (std::size_t b = 0; b < one.size(); ++b) {
      INFO(a << " and " << b);
      CHECK(symbols.conflict(one[a], another[b]) == together[a][b]);
      CHECK_FALSE(symbols.conflict(one[a], symbols.checked(another[b])));
      CHECK(symbols.conflict(symbols.unite(one[3], one[a]), another[b]) ==
            (together[a][b] || together[3][b]));
    }
  }
  CHECK(symbols.relation(one[0], symbols.checked(one[0])) == Relation::kCorrelated);
}

}  // namespace
}  // namespace dtype_guard::flow
