// What a call takes apart: the callee's arguments, parts of a list, and the code of what has no source.
#include <string>
#include <vector>

#include "analyzer/flow/engine/calls/stubs.h"
#include "analyzer/flow/engine/operations/bound_arguments.h"
#include "analyzer/flow/engine/operations/list_parts.h"
#include "tests/catch.h"
#include "tests/unit/flow/parts.h"

namespace dtype_guard::flow {
namespace {

using Kind = Alternative::Kind;

Value number(std::int64_t value) { return Value(Alternative::integer(value)); }

// A list of 0, 1, 2 ...
std::vector<Value> numbers(std::int64_t count) {
  std::vector<Value> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(number(i));
  return out;
}

struct Binding : CodeState {
  Effects effects;
  // What `other` (a, flag=true) is run with.
  std::vector<Value> bound(const std::vector<std::string>& named, std::vector<Value> handed) {
    Instruction call;
    for (const std::string& each : named) call.args.push_back({each, 1});
    return arguments.bound(module.functions[find("other")], call, 1, std::move(handed), state);
  }
  Questions questions{names};
  Dictionaries dictionaries{names, questions};
  BoundArguments arguments{subject, names, effects, dictionaries};
};

struct Slicing : Code {
  std::optional<Value> slice(const Instruction& subscript, const Value& of) {
    return parts.slice(*activation, subscript, *of.single(), 0, state);
  }
  const Cells& cells(const Value& value) { return state.find(value.single()->object)->cells; }
  ListParts parts{names, rounds, memory};
};

}  // namespace

TEST_CASE_METHOD(Binding, "bound arguments: by position, by name, and what has a default") {
  const Value x = number(7), no(Alternative::boolean(false));
  CHECK(bound({"", ""}, {x, no}) == std::vector<Value>{x, no});
  CHECK(bound({"flag", "a"}, {no, x}) == std::vector<Value>{x, no});
  const std::vector<Value> with_default = bound({""}, {x});
  REQUIRE(with_default.size() == 2);
  CHECK(truth(with_default[1]) == true);
  CHECK(bound({"flag"}, {no})[0].begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Binding, "bound arguments: a list gives positions, a dictionary names") {
  CHECK(bound({"*"}, {list_of(numbers(2))}) == std::vector<Value>{number(0), number(1)});
  HeapObject names_of;
  names_of.type = "dict";
  names_of.cells[names.ids.field("flag")] = number(5);
  const HeapId dictionary = names.ids.object(3, this);
  state.put(dictionary, std::move(names_of));
  CHECK(bound({"", "**"}, {number(7), Value(Alternative::at(Kind::kObject, dictionary))}) ==
        std::vector<Value>{number(7), number(5)});
  // Of how many there are nothing is known: a default may not hold.
  CHECK(bound({"", "*"}, {number(7), Value::unknown()})[1].begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Slicing, "list parts: a slice is a list of what stands between its bounds") {
  const Value whole = list_of(numbers(4));
  Instruction subscript;
  subscript.args = {{"start", 30}, {"stop", 31}};
  give(30, number(1));
  give(31, number(-1));
  const auto part = slice(subscript, whole);
  REQUIRE(part);
  CHECK(part->single()->object != whole.single()->object);
  CHECK(memory.elements(state, *part) == std::vector<Value>{number(1), number(2)});
  subscript.args.clear();
  CHECK(cells(*slice(subscript, whole)).size() == 4);
}

TEST_CASE_METHOD(Slicing, "list parts: between bounds that are not known any of the elements may stand") {
  Instruction subscript;
  subscript.args = {{"start", 30}};
  give(30, Value(Alternative::integer(std::nullopt)));
  const auto part = slice(subscript, list_of(numbers(3)));
  REQUIRE(part);
  CHECK(cells(*part).empty());
  CHECK(state.find(part->single()->object)->rest.size() == 3);
  CHECK(!slice(subscript, of_type("Layer")));
}

TEST_CASE("stubs: what has no source stands where it is called, one for each place") {
  Module module =
      parse("function installed\nb0:\n  %1 = const 1\n  return %1\nfunction own\nb0:\n  return\n");
  module.functions[0].foreign = true;
  const FunctionIndex index(module);
  Stubs stubs(index);
  Instruction here, there;
  here.range.line = 5;
  here.text = "installed()";
  there.range.line = 6;
  const Stub* stub = stubs.stub_at(0, &here);
  REQUIRE(stub);
  CHECK(stub->info.definition(1)->range.line == 5);
  CHECK(stub->info.definition(1)->text == "installed()");
  CHECK(stubs.stub_at(0, &here) == stub);
  REQUIRE(stubs.stub_at(0, &there));
  CHECK(stubs.stub_at(0, &there)->info.definition(1)->range.line == 6);
  CHECK(!stubs.stub_at(0, nullptr));
  module.functions[1].range.line = 1;
  CHECK(!stubs.stub_at(1, &here));
}

}  // namespace dtype_guard::flow
