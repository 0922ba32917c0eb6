// States share what they have in common: copies must not see each other's changes, and what is compared or
// joined must be what differs, no more and no less.
#include "analyzer/flow/state/state.h"

#include <map>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

struct Nothing {
  void add(int /*entry*/) {}
};
using Numbers = SharedArray<int, Nothing>;

std::map<std::size_t, int> differences(const Numbers& a, const Numbers& b) {
  std::map<std::size_t, int> out;
  a.visit_differences(b, [&](std::size_t at, int x, int y) {
    if (x != y) out[at] = y;
    return true;
  });
  return out;
}

Value number(int value) { return Value(Alternative::integer(value)); }

HeapObject holding(const Value& value) {
  HeapObject out;
  out.cells[HeapObject::kContents] = value;
  return out;
}

TEST_CASE("copies of an array do not see each other's changes") {
  std::mt19937 random(7);
  std::vector<Numbers> arrays(1);
  std::vector<std::map<std::size_t, int>> expected(1);
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t which = random() % arrays.size();
    if (step % 50 == 0 && arrays.size() < 40) {
      arrays.push_back(arrays[which]);
      expected.push_back(expected[which]);
    }
    const std::size_t at = step % 3 == 0 ? random() % 40'000 : random() % 200;
    arrays[which].change(at) = step;
    expected[which][at] = step;
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (const auto& [at, value] : expected[i]) REQUIRE(arrays[i][at] == value);
    std::map<std::size_t, int> wanted;  // of array 0, what array i has in its place
    for (const auto& [at, value] : expected[0]) wanted[at] = 0;
    for (const auto& [at, value] : expected[i]) wanted[at] = value;
    std::erase_if(wanted, [&](const auto& each) {
      const auto mine = expected[0].find(each.first);
      return (mine == expected[0].end() ? 0 : mine->second) == each.second;
    });
    CHECK(differences(arrays[0], arrays[i]) == wanted);
  }
}

TEST_CASE("what two copies share is not looked at") {
  Numbers one;
  for (std::size_t i = 0; i < 10'000; ++i) one.change(i) = 1;
  Numbers two = one;
  int visited = 0;
  const auto count = [&](std::size_t, int, int) {
    ++visited;
    return true;
  };
  one.visit_differences(two, count);
  CHECK(visited == 0);
  two.change(5'000) = 2;
  one.visit_differences(two, count);
  CHECK(visited == 32);
  CHECK(one[5'000] == 1);
  CHECK(one[20'000] == 0);
}

TEST_CASE("an array may be changed while it is compared") {
  Numbers one, two;
  for (std::size_t i = 0; i < 100; ++i) two.change(i) = static_cast<int>(i);
  one.visit_differences(two, [&](std::size_t at, int mine, int theirs) {
    if (mine != theirs) one.change(at) = theirs;
    return true;
  });
  CHECK(differences(one, two).empty());
}

TEST_CASE("a summary says yes for every value that an object holds, after every change") {
  State state;
  std::vector<Value> values;
  for (int i = 0; i < 500; ++i) {
    values.push_back(number(i));
    state.put(static_cast<HeapId>(i), holding(values.back()));
  }
  std::size_t looked_at = 0;
  const auto holders = [&](const Value& value) {
    std::vector<std::size_t> out;
    state.heap.visit_where([&](const HeldValues& held) { return held.may_hold(value); },
                           [&](std::size_t id, const HeapPointer& object) {
                             ++looked_at;
                             if (object && object->cells.begin()->second.same(value)) out.push_back(id);
                             return true;
                           });
    return out;
  };
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(holders(values[i]) == std::vector{i});
  // The bits come from addresses, so one value may collide with a few groups of objects: the mean is bounded.
  CHECK(looked_at / values.size() <= 512 / 8);
  state.change(40).cells[HeapObject::kContents] = values[300];
  CHECK(holders(values[300]) == std::vector<std::size_t>{40, 300});
  CHECK(holders(values[40]).empty());
  state.erase(300);
  CHECK(holders(values[300]) == std::vector<std::size_t>{40});
  CHECK(state.find(300) == nullptr);
}

TEST_CASE("a state is compared and joined by what differs") {
  SymbolSets symbols;
  State one;
  for (HeapId i = 0; i < 1'000; ++i) one.put(i, holding(number(1)));
  one.values.change(70) = number(1);
  State two = one;
  CHECK(one == two);
  two.put(500, holding(number(1)));  // another object that says the same
  CHECK(one == two);
  two.change(501).cells[HeapObject::kContents] = number(2);
  CHECK_FALSE(one == two);
  CHECK(one.find(501)->cells.at(HeapObject::kContents) == number(1));
  two.put(2'000, holding(number(3)));
  two.values.change(71) = number(4);
  State joined = one;
  joined = join({&joined, &two}, symbols, {});
  CHECK(joined.find(501)->cells.at(HeapObject::kContents).size() == 2);
  CHECK(joined.find(500)->cells.at(HeapObject::kContents) == number(1));
  CHECK(joined.find(2'000)->cells.at(HeapObject::kContents) == number(3));
  CHECK(joined.values[70] == number(1));
  CHECK(joined.values[71] == number(4));
  two = join({&two, &one}, symbols, {});
  CHECK(joined == two);
}

TEST_CASE("objects that have the same cells join cell by cell, others by what either has") {
  SymbolSets symbols;
  const Key field{Key::Kind::kField, 1};
  State one;
  one.put(7, holding(number(1)));
  one.change(7).cells[field] = number(5);
  State two = one;
  two.change(7).cells[HeapObject::kContents] = number(2);
  State joined = join({&one, &two}, symbols, {});
  CHECK(joined.find(7)->cells.at(HeapObject::kContents).size() == 2);
  CHECK(joined.find(7)->cells.at(field).same(one.find(7)->cells.at(field)));
  two.change(7).cells.erase(field);
  joined = join({&one, &two}, symbols, {});
  CHECK(joined.find(7)->cells.size() == 2);
  CHECK(joined.find(7)->cells.at(field) == number(5));
}

struct Counted {
  explicit Counted(int& count) : alive(count) { ++alive; }
  Counted(const Counted& other) : alive(other.alive) { ++alive; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
  int& alive;
};

TEST_CASE("what is shared lives until its last owner goes") {
  int alive = 0;
  {
    Shared<Counted> first = Shared<Counted>::make(alive);
    CHECK(first.has_one_owner());
    const Shared<const Counted> second = first;
    CHECK(!first.has_one_owner());
    CHECK(second.get() == first.get());
    first = nullptr;
    CHECK(!first);
    CHECK(second.has_one_owner());
    CHECK(alive == 1);
    first = Shared<Counted>::make(*second);
    CHECK(alive == 2);
    first = Shared<Counted>(std::move(first));  // into itself
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
  std::vector<Shared<Counted>> many;
  for (int i = 0; i < 100; ++i) many.push_back(Shared<Counted>::make(alive));
  CHECK(alive == 100);
  many.erase(many.begin(), many.begin() + 50);
  CHECK(alive == 50);
}

struct Refuses {
  explicit Refuses(bool yes) {
    if (yes) throw std::runtime_error("refused");
  }
};

TEST_CASE("what could not be made leaves its room to the next") {
  CHECK_THROWS_AS(Shared<Refuses>::make(true), std::runtime_error);
  CHECK(Shared<Refuses>::make(false).has_one_owner());
}

}  // namespace
}  // namespace dtype_guard::flow
