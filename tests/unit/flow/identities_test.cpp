// What the engine tells apart: one number for one place in one context, however often it is asked for.
#include "analyzer/flow/engine/identities.h"

#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {
struct Numbers {
  SymbolSets symbols;
  Identities ids{symbols};
  int place = 0, other = 0;  // of which the addresses stand for places in the code
};
}  // namespace

TEST_CASE_METHOD(Numbers, "one place in one context is one thing") {
  const ContextId inner = ids.context(0, &place);
  CHECK(ids.context(0, &place) == inner);
  CHECK(ids.context(0, &other) != inner);
  CHECK(ids.context(inner, &place) != inner);
  const HeapId object = ids.object(inner, &place);
  CHECK(ids.object(inner, &place) == object);
  CHECK(ids.object(inner, &place, 1) != object);
  CHECK(ids.object(0, &place) != object);
  CHECK(ids.count_of_objects() == 3);
  CHECK(ids.rank(inner, &place) == ids.rank(inner, &place));
  CHECK(ids.rank(inner, &place) != ids.rank(inner, &other));
  CHECK(ids.rank(inner, &place) != 0);
}

TEST_CASE_METHOD(Numbers, "what a round makes stands for several, also if it was made before") {
  const HeapId before = ids.object(0, &place);
  CHECK(!ids.stands_for_several(before));
  ids.set_in_round(true);
  CHECK(ids.stands_for_several(ids.object(0, &other)));
  CHECK(ids.object(0, &place) == before);
  CHECK(ids.stands_for_several(before));
  ids.set_in_round(false);
  CHECK(!ids.stands_for_several(ids.object(1, &place)));
}

TEST_CASE_METHOD(Numbers, "a symbol is known once it was asked for") {
  CHECK(!ids.known_symbol(1, &place, 0));
  const SymbolSetId symbol = ids.symbol(1, &place);
  const auto known = ids.known_symbol(1, &place, 0);
  REQUIRE(known);
  CHECK(symbols.of(*known) == symbol);
  CHECK(!symbols.share(symbol, ids.symbol(2, &place)));
}

TEST_CASE_METHOD(Numbers, "a choice has its nature") {
  const SymbolSetId shape = ids.choice(Nature::kShape, 1, &place);
  CHECK(symbols.rests_on(shape, Nature::kShape));
  CHECK(!symbols.rests_on(shape, Nature::kSetting));
  CHECK(ids.undecided() == ids.undecided());
}

TEST_CASE_METHOD(Numbers, "questions, fields and writers of one number are not one symbol") {
  const SymbolSetId question = ids.question(Nature::kAnswer, "size|1");
  CHECK(ids.question(Nature::kAnswer, "size|1") == question);
  CHECK(!symbols.share(ids.question(Nature::kShape, "size|1"), question));
  const SymbolSetId field = ids.of_field(Nature::kSetting, 1, 1);
  const SymbolSetId writer = ids.of_writer(Nature::kSetting, 1, 1);
  CHECK(!symbols.share(field, writer));
  CHECK(!symbols.share(field, question));
  CHECK(symbols.share(field, ids.of_field(Nature::kSetting, 1, 1)));
}

TEST_CASE_METHOD(Numbers, "a field has a name and a key") {
  const Key dtype = ids.field("dtype");
  CHECK(ids.field("dtype") == dtype);
  CHECK(!(ids.field("data") == dtype));
  CHECK(ids.field_name(dtype.id) == "dtype");
}

}  // namespace dtype_guard::flow
