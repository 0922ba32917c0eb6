// The passes over a whole module, each on its own: what a class inherits, which functions write and read
// fields.
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/program.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

const char* const kModule = R"(file "f.cpp"

class Base
  settable rate: number
class Derived : Base
  owned scale
class Open : "?"

constructor Base::Base key base_made of Base
b0:
  return

method Base::run key base_run of Base
b0:
  %1 = param 0
  %2 = const 1
  call base_part(%1)
  return %2

method Base::part key base_part of Base
b0:
  return

method Derived::set key derived_set of Derived
  parameter to: tensor
b0:
  %1 = param 0
  %2 = param 1
  store %1.scale, %2
  store %1.rate, %2
  return

method Derived::get key derived_get of Derived
b0:
  %1 = param 0
  %2 = load %1.scale
  %3 = dtype_of %2
  return %3

function other key other
  parameter object: object "Derived"
b0:
  %1 = param 0
  %2 = call derived_get(%1)
  return %2
)";

struct Parsed {
  Module module = parse(kModule);
  FunctionIndex index{module};
  std::uint32_t id(std::string_view key) const { return index.find(key).front(); }
};

using Ids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE_METHOD(Parsed, "a class has its own methods and those of its bases") {
  const ClassHierarchy classes(index);
  CHECK(classes.inherited("Derived", "run", 0, 0) == Ids{id("base_run")});
  CHECK(classes.inherited("Base", "set", 1, 0).empty());
  CHECK(classes.derives("Derived", "Base"));
  CHECK(!classes.derives("Base", "Derived"));
  CHECK(classes.derives("Open", "Base"));
  CHECK(classes.heirs(id("base_run")).empty());
}

TEST_CASE_METHOD(Parsed, "fields that others than constructors write") {
  const ClassHierarchy classes(index);
  const FieldWrites writes(index, classes);
  REQUIRE(writes.settable("Derived").size() == 1);
  CHECK(writes.settable("Derived").front().name == "rate");
  CHECK(writes.written_by("Derived", "scale") == writes.written_by("Derived", "rate"));
  CHECK(writes.written_by("Derived", "scale").size() == 1);
  CHECK(writes.written_by("Derived", "other").empty());
}

TEST_CASE_METHOD(Parsed, "a field that a method gives another value") {
  const ClassHierarchy classes(index);
  const FieldStores stores(index, classes);
  const auto& reassigned = stores.reassigned("Derived");
  REQUIRE(reassigned.size() == 2);
  CHECK(reassigned.front().field == "rate");
  CHECK(reassigned.front().method == id("derived_set"));
  CHECK(stores.reassigned("Unknown").empty());
}

TEST_CASE_METHOD(Parsed, "a tensor that a method sets, and what reads it") {
  const ClassHierarchy classes(index);
  const FieldUses uses(index, classes);
  const auto& later = uses.set_later("Derived");
  REQUIRE(later.size() == 1);
  CHECK(later.front().field == "scale");
  CHECK(later.front().setters == Ids{id("derived_set")});
  CHECK(later.front().readers == Ids{id("derived_get")});
  CHECK(uses.set_later("Base").empty());
}

TEST_CASE_METHOD(Parsed, "a function asks for dtypes where what it calls does") {
  const DtypeQuestions questions(index);
  CHECK(questions.asks_for_dtypes(id("derived_get")));
  CHECK(questions.asks_for_dtypes(id("other")));
  CHECK(!questions.asks_for_dtypes(id("base_run")));
  CHECK(questions.names_dtypes(id("derived_get")));
  CHECK(!questions.names_dtypes(id("other")));
}

TEST_CASE("a function object that is handed what was cast") {
  const Module module = parse(R"(file "f.cpp"
function f
  parameter x: tensor
  parameter g: other
b0:
  %1 = param 0
  %2 = param 1
  %3 = const float32
  %4 = cast %1, %3
  call ""(%2, %4)
  call ""(%2, %1, %1)
  return
)");
  const FunctionIndex index(module);
  const CallsOfObjects calls(index);
  CHECK(calls.is_called_with_casts(1));
  CHECK(!calls.is_called_with_casts(2));
}

}  // namespace dtype_guard::flow
