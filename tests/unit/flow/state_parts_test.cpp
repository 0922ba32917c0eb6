// What values, states and the IR are kept in, each container on its own.
#include <array>
#include <stdexcept>
#include <string>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/ir/builder.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/ir/text_cursor.h"
#include "analyzer/flow/state/state.h"
#include "analyzer/flow/values/effort.h"
#include "tests/catch.h"

namespace dtype_guard::flow {

TEST_CASE("cells: in the order of their keys, one for each") {
  const Key first{Key::Kind::kIndex, 0}, second{Key::Kind::kIndex, 1}, none{Key::Kind::kField, 0};
  Cells cells;
  CHECK(cells.empty());
  cells[second] = Value::none();
  CHECK(cells.try_emplace(first, Value::unknown()).second);
  CHECK(!cells.try_emplace(first, Value::none()).second);
  CHECK(cells.begin()->first == first);
  CHECK(cells.last_key() == second);
  CHECK(cells.at(first) == Value::unknown());
  CHECK(cells.find(none) == cells.end());
  CHECK_THROWS_AS(cells.at(none), std::out_of_range);
  cells.erase(first);
  CHECK(cells.size() == 1);
}

TEST_CASE("shared until changed: a copy keeps what it was") {
  SharedUntilChanged<std::string> one(std::string("a"));
  const SharedUntilChanged<std::string> copy = one;
  CHECK(&copy.get() == &one.get());
  one.change() += "b";
  CHECK(copy.get() == "a");
  CHECK(one.get() == "ab");
  CHECK(SharedUntilChanged<std::string>().empty());
  CHECK(copy == SharedUntilChanged<std::string>(std::string("a")));
}

TEST_CASE("passed tests: each once, and where paths meet those of both") {
  const auto test = [](std::uint32_t function) {
    PassedTest out;
    out.tested = function;
    return out;
  };
  PassedTests one, other;
  for (const std::uint32_t each : {3U, 1U, 2U, 1U}) one.add(test(each));
  REQUIRE(one.size() == 3);
  CHECK(one.begin()->tested == 1);
  other.add(test(4));
  other.add(test(2));
  one.keep_those_of(other);
  REQUIRE(one.size() == 1);
  CHECK(one.begin()->tested == 2);
  one.forget_if([](const PassedTest& each) { return each.tested == 2; });
  CHECK(one == PassedTests());
  for (std::uint32_t each = 0; each < 1000; ++each) one.add(test(each));
  CHECK(one.size() == 64);  // generated code must not make every state long
}

TEST_CASE("rank facts: what both paths proved holds, and nothing that contradicts another") {
  const auto rank = [](RankSymbol symbol, std::int8_t offset = 0) {
    Rank out;
    out.symbol = symbol;
    out.offset = offset;
    return out;
  };
  RankFacts one;
  CHECK(one.learn(rank(7), Rank::exactly(4)));
  CHECK(!one.learn(rank(7), Rank::exactly(3)));
  CHECK(one.known(rank(7)).min == 4);
  CHECK(one.known(rank(7, 1)).min == 5);
  CHECK(one.known(rank(8)) == rank(8));
  RankFacts other;
  CHECK(other.empty());
  CHECK(other.learn(rank(2), Rank::at_least(1)));
  CHECK(other.learn(rank(7), Rank::exactly(2)));
  RankFacts both = one;
  both.join(other);
  CHECK(both.known(rank(7)).min == 2);
  CHECK(both.known(rank(7)).max == 4);
  CHECK(both.known(rank(2)) == rank(2));
  one.take_over(other);
  CHECK(one == other);
  one.forget({2, 7});
  CHECK(one.empty());
}

TEST_CASE("type name: compares with text, and with another by what it says") {
  const TypeName name("torch::nn::Linear");
  CHECK(name == "torch::nn::Linear");
  CHECK(name == TypeName(std::string("torch::nn::Linear")));
  CHECK(!(name == "torch::nn"));
  CHECK(name.starts_with("torch::"));
  CHECK(TypeName().empty());
}

TEST_CASE("held values: those of the cells of the objects that were added") {
  const Value cell = Value::none(), alike = Value::none();
  HeapObject object;
  object.cells[HeapObject::kContents] = cell;
  HeldValues held;
  held.add(nullptr);
  CHECK(!held.may_hold(cell));
  held.add(HeapPointer::make(object));
  CHECK(held.may_hold(cell));
  CHECK(!HeldValues().may_hold(alike));
}

TEST_CASE("shared row: copies are one row, and it lives as long as one of them") {
  const std::array<int, 3> numbers = {1, 2, 3};
  SharedRow<int> copy;
  CHECK(!copy);
  {
    const SharedRow<int> row{std::span(numbers)};
    copy = row;
    CHECK(copy.address() == row.address());
    CHECK(SharedRow<int>(std::span(numbers)).address() != row.address());
  }
  CHECK(std::vector<int>(copy.begin(), copy.end()) == std::vector<int>{1, 2, 3});
}

TEST_CASE("rooms: one that was given back is taken next") {
  struct Thing {
    std::array<char, 40> bytes;
  };
  void* const room = Rooms<Thing>::take();
  void* const other = Rooms<Thing>::take();
  CHECK(room != other);
  Rooms<Thing>::give_back(room);
#ifndef __SANITIZE_ADDRESS__
  void* const again = Rooms<Thing>::take();
  CHECK(again == room);
  Rooms<Thing>::give_back(again);
#endif
  Rooms<Thing>::give_back(other);
}

TEST_CASE("builder: instructions stand where the expression does, and unreached blocks go") {
  Function function;
  Builder builder(function);
  const ValueId x = builder.parameter(0);
  {
    const Builder::At at(builder, {{0, 3, 1, 3, 9}, "x + x", Written::kTensor});
    builder.op("add", {{"", x}, {"", x}});
  }
  const BlockId end = builder.block();
  builder.jump(end);
  CHECK(!builder.open());
  builder.none();  // behind the jump
  builder.jump(end);
  builder.enter(end);
  CHECK(builder.current() == end);
  builder.store({builder.variable("v"), 0, {}}, x);
  builder.finish();
  REQUIRE(function.blocks.size() == 2);
  const std::vector<Instruction>& code = function.blocks[0].instructions;
  REQUIRE(code.size() == 3);
  CHECK(code[1].text == "x + x");
  CHECK(code[1].range.line == 3);
  CHECK(code[1].result == x + 1);
  CHECK(code[2].text.empty());
  CHECK(code[2].targets == std::vector<BlockId>{1});
  CHECK(function.blocks[1].instructions.back().op == Op::kReturn);
}

TEST_CASE("text cursor: takes what stands next, or says what was expected") {
  TextCursor cursor("  store \"a \\\"b\\x21\" -1.5, rest", 7);
  CHECK(!cursor.take("sto"));  // a part of a word
  CHECK(cursor.take("store"));
  CHECK(cursor.next_is('"'));
  CHECK(cursor.word("a name") == "a \"b!");
  CHECK(cursor.need_number<double>("a number") == -1.5);
  CHECK(!cursor.number_of<int>());
  cursor.need(",");
  try {
    cursor.need(")");
    FAIL("took what is not there");
  } catch (const TextError& error) {
    CHECK(error.line == 7);
    CHECK(std::string(error.what()) == TextError(7, "found 'rest', expected ')'").what());
  }
  CHECK(cursor.until(",") == "rest");
  CHECK(cursor.at_end());
}

TEST_CASE("of a value something is made once, so that places that hold it hold one") {
  MadeOnce made;
  const Value half(Alternative::tensor(Dtype::kFloat16, Rank{}));
  const Value alike(Alternative::tensor(Dtype::kFloat16, Rank{}));
  const Value of_half = made.of(half, weakened);
  CHECK(of_half.single()->uncertain);
  CHECK(made.of(half, weakened).same(of_half));
  CHECK_FALSE(made.of(alike, weakened).same(of_half));
}

TEST_CASE(
    "effort: a shared object that changes is copied, with as much effort as it has cells; its own is not") {
  State state;
  HeapObject object;
  for (int i = 0; i < 100; ++i) object.cells[{Key::Kind::kVariable, i}] = Value::none();
  state.put(1, object);
  Effort::take();
  state.change(1).rest = Value::none();
  CHECK(Effort::take() == 0);
  State other = state;
  other.change(1).rest = Value::unknown();
  const std::size_t of_many = Effort::take();
  Effort::note(Effort::Of::kCell, 100);
  CHECK(of_many == Effort::take());
  CHECK(!(state == other));
  CHECK(Effort::take() > 0);
}

}  // namespace dtype_guard::flow
