// Which guards are over where ways meet, and which block always follows another.
#include "analyzer/flow/guards.h"

#include "analyzer/flow/text.h"
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
  CHECK(info.always_follows(6, 9));        // nobody returns from there
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
TEST_CASE("a guard goes on where one way of its branch does not come by") {
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

  Guards inside = {is_a};
  Sides sides = join_guards(inside, {not_a, is_b}, {7, &info, 2}, symbols);
  CHECK(sides.into == a);
  CHECK(sides.from == both);
  CHECK(inside == Guards{not_a, is_a, is_b});

  Guards after = inside;
  sides = join_guards(after, {not_a, not_b}, {7, &info, 4}, symbols);
  CHECK(after.empty());
  CHECK(sides.into == both);
  CHECK(sides.from == b);
}

TEST_CASE("what a caller or a check decided stays") {
  SymbolSets symbols;
  const SymbolSetId a = symbols.of(1), b = symbols.of(2);
  const Guard callers{1, 4, true, a}, opposite{1, 4, false, a}, check{7, 0, true, b};
  Guards guards = {opposite, callers, check};
  join_guards(guards, {opposite, callers, check, {7, 2, true, a}}, {7}, symbols);
  CHECK(guards == Guards{opposite, callers, check});

  const Guards back = after_call({opposite, callers}, guards, 7, symbols);
  CHECK(back == Guards{opposite, callers, {7, 0, true, b}});
  CHECK(after_call(back, guards, 7, symbols) == back);
}

TEST_CASE("one more round of a loop is no condition") {
  SymbolSets symbols;
  const SymbolSetId a = symbols.of(1);
  const Module module = graph("b0:\n  return\n");
  const FunctionInfo info(module.functions.front());
  Guards guards;
  const Sides sides = join_guards(guards, {{7, 0, true, a}}, {7, &info, 0, true}, symbols);
  CHECK(guards.empty());
  CHECK(sides.from == 0);
}

}  // namespace
}  // namespace dtype_guard::flow
