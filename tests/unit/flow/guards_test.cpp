// Which guards are over where ways meet, and which block always follows another.
#include "analyzer/flow/state/guards.h"

#include "analyzer/flow/ir/text.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

Module graph(const std::string& blocks) { return parse("function f\n" + blocks); }

TEST_CASE("a block follows another for certain where every way to a return leads through it") {
  const Module module = graph(R"IR(b0:
  %1 = const unknown
  branch %1 ? b1 : b2
b1:
  branch %1 ? b3 : b4
b2:
  jump b5
b3:
  return
b4:
  jump b5
b5:
  branch %1 ? b6 : b7
b6:
  unreachable
b7:
  jump b8
b8:
  branch %1 ? b7 : b9
b9:
  return
)IR");
  const FunctionInfo info(module.functions.front());
  CHECK(info.always_follows(2, 5));
  CHECK(info.always_follows(4, 9));
  CHECK(info.always_follows(8, 9));
  CHECK(info.always_follows(7, 7));
  CHECK(info.always_follows(5, 7));        // the other way throws
  CHECK(info.always_follows(6, 9));        // no path returns from there
  CHECK_FALSE(info.always_follows(0, 5));  // b3 returns before
  CHECK_FALSE(info.always_follows(1, 5));
  CHECK_FALSE(info.always_follows(5, 2));
  CHECK_FALSE(info.always_follows(9, 8));
}

TEST_CASE("a function that never returns has no block that follows for certain") {
  const Module module = graph("b0:\n  jump b1\nb1:\n  jump b0\n");
  const FunctionInfo info(module.functions.front());
  CHECK(info.always_follows(0, 1));
  CHECK(info.always_follows(1, 0));
}

// if (a || b) { b2 } ... b4: b0 asks a, b1 asks b.
TEST_CASE("a guard is kept where one way of its branch does not reach the meet") {
  const Module module = graph(R"IR(b0:
  %1 = const unknown
  branch %1 ? b2 : b1
b1:
  branch %1 ? b2 : b3
b2:
  jump b4
b3:
  jump b4
b4:
  return
)IR");
  const FunctionInfo info(module.functions.front());
  SymbolSets symbols;
  const SymbolSetId a = symbols.of(1), b = symbols.of(2), both = symbols.unite(symbols.of(1), symbols.of(2));
  const Guard is_a{7, 0, true, a}, not_a{7, 0, false, a}, is_b{7, 1, true, b}, not_b{7, 1, false, b};

  const Guards by_a = {is_a}, by_b = {not_a, is_b}, by_neither = {not_a, not_b};
  const Guards inside = meet({&by_a, &by_b}, {7, &info, 2});
  REQUIRE(inside.size() == 3);
  const auto on_some_ways = [](Guard each) {
    each.on_some_ways = true;
    return each;
  };
  CHECK(inside == Guards{on_some_ways(not_a), on_some_ways(is_a), on_some_ways(is_b)});
  std::vector<Side> sides = sides_of({&by_a, &by_b}, inside, {7, &info, 2}, symbols);
  CHECK(sides[0].guards == by_a);
  CHECK(sides[1].guards == by_b);
  CHECK(symbols.deciding(sides[1].symbols) == both);

  const Guards after = meet({&inside, &by_neither}, {7, &info, 4});
  CHECK(after.empty());
  sides = sides_of({&inside, &by_neither}, after, {7, &info, 4}, symbols);
  CHECK(symbols.deciding(sides[0].symbols) == both);
  CHECK(symbols.deciding(sides[1].symbols) == b);
}

TEST_CASE("a guard is dropped where only one way of its branch leads on") {
  const Module module = graph(R"IR(b0:
  %1 = const unknown
  branch %1 ? b0 : b1
b1:
  return
)IR");
  const FunctionInfo info(module.functions.front());
  SymbolSets symbols;
  const Guard left{7, 0, false, symbols.of(1)}, check{7, 0, true, symbols.of(2), 0, true};
  const Guards only = {left, check};
  CHECK(meet({&only}, {7, &info, 1}) == Guards{check});
}

TEST_CASE("guards of callers and of checks are kept") {
  SymbolSets symbols;
  const SymbolSetId a = symbols.of(1), b = symbols.of(2);
  const Guard callers{1, 4, true, a}, opposite{1, 4, false, a}, check{7, 0, true, b, 0, true};
  const Guards first = {opposite, callers, check}, second = {opposite, callers, check, {7, 2, true, a}};
  const Guards guards = meet({&first, &second}, {7});
  CHECK(guards == Guards{opposite, callers, check});

  const Guards back = after_call({opposite, callers}, guards, 7, symbols);
  CHECK(back == Guards{opposite, callers, {7, 0, true, b}});
  CHECK(after_call(back, guards, 7, symbols) == back);
}

TEST_CASE("another round of a loop adds no guard") {
  SymbolSets symbols;
  const SymbolSetId a = symbols.of(1);
  const Module module = graph("b0:\n  return\n");
  const FunctionInfo info(module.functions.front());
  const Guards first, again = {{7, 0, true, a}};
  const Meeting head{7, &info, 0, true};
  CHECK(meet({&first, &again}, head).empty());
  CHECK(sides_of({&first, &again}, {}, head, symbols)[1].symbols == 0);
}

// What came under one question passes another that may have to do with it, unless it was made behind that.
TEST_CASE("a condition correlates only with values made before it") {
  SymbolSets symbols;
  symbols.set_nature(2, Nature::kSetting);
  const SymbolSetId answer = symbols.of(1), setting = symbols.of(2);
  const Guard outer{7, 0, true, answer, 5}, inner{7, 1, true, setting, 7};
  const SymbolSetId made_inside = side_of({inner}, {outer}, symbols).symbols;
  const SymbolSetId made_before = side_of({inner}, {}, symbols).symbols;
  using Relation = SymbolSets::Relation;
  CHECK(relation(made_inside, {outer}, symbols) == Relation::kAgree);
  CHECK(relation(made_before, {outer}, symbols) == Relation::kCorrelated);
  CHECK(relation(symbols.unite(made_inside, made_before), {outer}, symbols) == Relation::kCorrelated);
  CHECK(relation(0, {outer}, symbols) == Relation::kIndependent);
  CHECK(relation(made_before, {}, symbols) == Relation::kIndependent);
}

TEST_CASE("a guard that was passed on some of the ways excludes nothing") {
  SymbolSets symbols;
  using Relation = SymbolSets::Relation;
  const SymbolSetId yes = symbols.of(1, SymbolSets::Said::kTrue),
                    no = symbols.of(1, SymbolSets::Said::kFalse);
  Guard passed{7, 0, true, yes};
  CHECK(relation(no, {passed}, symbols) == Relation::kContradict);
  passed.on_some_ways = true;
  CHECK(relation(no, {passed}, symbols) == Relation::kCorrelated);
}

TEST_CASE("what was made behind opposite ways of one branch is apart") {
  SymbolSets symbols;
  const auto made = [&](bool taken, bool may_repeat, bool on_some_ways) {
    Guard passed{7, 0, taken, symbols.of(1), SymbolSets::passage(3, taken, may_repeat)};
    passed.on_some_ways = on_some_ways;
    return side_of({passed}, {}, symbols).symbols;
  };
  const SymbolSetId yes = made(true, false, false), no = made(false, false, false);
  const auto are_apart = [&](SymbolSetId a, SymbolSetId b) {
    return symbols.relation(a, b) == SymbolSets::Relation::kContradict;
  };
  CHECK(are_apart(yes, no));
  CHECK(are_apart(no, yes));
  CHECK_FALSE(are_apart(yes, yes));
  CHECK_FALSE(are_apart(yes, symbols.of(1)));
  CHECK_FALSE(are_apart(symbols.either(yes, no), no));
  // The next round of a loop may go the other way, and where ways met some had gone neither.
  CHECK_FALSE(are_apart(made(true, true, false), made(false, true, false)));
  CHECK_FALSE(are_apart(made(true, false, true), no));
  CHECK_FALSE(are_apart(no, made(true, false, true)));
}

TEST_CASE("the blocks of a loop are those that come back without leaving") {
  const Module module = graph(R"IR(b0:
  %1 = const unknown
  jump b1
b1:
  branch %1 ? b2 : b4
b2:
  branch %1 ? b3 : b5
b3:
  jump b1
b4:
  return
b5:
  return
)IR");
  const FunctionInfo info(module.functions.front());
  REQUIRE(info.loops.size() == 1);
  const FunctionInfo::Loop& loop = info.loops.front();
  CHECK(loop.head == 1);
  CHECK(loop.is_left_by(1, 4));
  CHECK(loop.is_left_by(2, 5));
  CHECK_FALSE(loop.is_left_by(2, 3));
  CHECK_FALSE(loop.is_left_by(0, 1));
}

}  // namespace
}  // namespace dtype_guard::flow
