// The passes over a whole module, each on its own: what a class inherits, which functions write and read
// fields.
#include <string>
#include <utility>
#include <vector>

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
  const Fields fields(index, classes);
  REQUIRE(fields.settable("Derived").size() == 1);
  CHECK(fields.settable("Derived").front().name == "rate");
  CHECK(fields.written_by("Derived", "scale") == fields.written_by("Derived", "rate"));
  CHECK(fields.written_by("Derived", "scale").size() == 1);
  CHECK(fields.written_by("Derived", "other").empty());
}

TEST_CASE_METHOD(Parsed, "a field that a method gives another value") {
  const ClassHierarchy classes(index);
  const Fields fields(index, classes);
  const auto& reassigned = fields.reassigned("Derived", "rate");
  REQUIRE(reassigned.size() == 1);
  CHECK(reassigned.front().function == id("derived_set"));
  CHECK(reassigned.front().is_method);
  CHECK(fields.reassigned("Derived", "scale").size() == 1);
  CHECK(fields.reassigned("Derived", "other").empty());
  CHECK(fields.reassigned("Unknown", "rate").empty());
}

TEST_CASE_METHOD(Parsed, "a tensor that a method sets, and what reads it") {
  const ClassHierarchy classes(index);
  const Fields fields(index, classes);
  const auto& later = fields.set_later("Derived");
  REQUIRE(later.size() == 1);
  CHECK(later.front().field == "scale");
  CHECK(later.front().setters == Ids{id("derived_set")});
  CHECK(later.front().readers == Ids{id("derived_get")});
  CHECK(fields.set_later("Base").empty());
}

TEST_CASE_METHOD(Parsed, "a function asks for dtypes where what it calls does") {
  const DtypeQuestions questions(index);
  CHECK(questions.asks_for_dtypes(id("derived_get")));
  CHECK(questions.asks_for_dtypes(id("other")));
  CHECK(!questions.asks_for_dtypes(id("base_run")));
  CHECK(index.effects(id("derived_get")).names_dtypes);
  CHECK(!index.effects(id("other")).names_dtypes);
}

TEST_CASE("what the body of one function does to objects") {
  const Module module = parse(R"(file "f.cpp"
method Model::set key set of Model
  parameter other: object "Part"
  variables v, w
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 1
  store %1.rate, %3
  store %1.parts[0], %2
  %4 = object Made()
  %5 = call made(%4)
  store v, %4
  store w, %2
  store w, %4
  jump b1
b1:
  %6 = load v
  store %6.scale, %3
  %7 = load w
  %8 = load %7.scale
  %9 = const float16
  retype %8, %9
  store %2.part.scale, %8
  %10 = address %2.bias
  store %10, %8
  %11 = address %1.bias
  return %11
)");
  const Function& code = module.functions.front();
  const FunctionEffects effects(code, FunctionInfo(code));
  CHECK(effects.may_make_half);
  CHECK(effects.names_dtypes);
  CHECK(!effects.asks_for_dtypes);
  CHECK(effects.makes.size() == 1);
  CHECK(effects.runs.size() == 1);
  std::vector<std::string> all;
  for (const FieldAccess& each : effects.fields) {
    using Kind = FieldAccess::Kind;
    std::string text = each.kind == Kind::kLoad ? "load " : each.kind == Kind::kStore ? "store " : "address ";
    text += *each.field + (each.owner ? " of " + *each.owner : "");
    for (const auto& [is, what] :
         {std::pair(each.of_this, " of_this"), std::pair(each.in_this, " in_this"),
          std::pair(each.is_constant, " constant"), std::pair(each.is_first, " first"),
          std::pair(each.is_converted, " converted"), std::pair(each.is_written, " written"),
          std::pair(each.is_handed_out, " handed_out")})
      text += is ? what : "";
    all.push_back(text);
  }
  CHECK(all == std::vector<std::string>{"store rate of_this in_this constant first",
                                        "store parts in_this first", "store scale of Made constant",
                                        "load scale converted", "store scale", "address bias of Part written",
                                        "address bias of_this in_this handed_out"});
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

namespace {
// A method `forward` for each class, in two files by turns.
Module with_forwards(std::uint32_t count) {
  Module out;
  out.files = {"a.py", "b.py"};
  for (std::uint32_t i = 0; i < count; ++i) {
    Function& method = out.functions.emplace_back();
    method.kind = FunctionKind::kMethod;
    method.class_name = "C" + std::to_string(i);
    method.name = method.class_name + ".forward";
    method.key = method.name;
    method.range.file = i % 2;
    method.blocks.resize(1);
  }
  return out;
}
}  // namespace

TEST_CASE("of a name that very many methods have, those of the call's file may run") {
  Instruction call;
  call.op = Op::kCall;
  call.name = "attribute::forward";
  call.range.file = 1;
  const Module few = with_forwards(6);
  CHECK(FunctionIndex(few).may_run(call) == Ids{0, 1, 2, 3, 4, 5});
  const Module many = with_forwards(40);
  const FunctionIndex index(many);
  Ids own;
  for (std::uint32_t i = 1; i < 40; i += 2) own.push_back(i);
  CHECK(index.may_run(call) == own);
  call.name = "attribute::__call__";
  CHECK(index.may_run(call) == own);
  call.name = "attribute::__call__::C0.forward";
  own.insert(own.begin(), 0);
  CHECK(index.may_run(call) == own);
  call.name = "attribute::backward";
  CHECK(index.may_run(call).empty());
}

TEST_CASE("heirs of a method are those below its class that have a part in it") {
  const Module module = parse(R"(class Alone
class Base
class Far : Near
class Near : Base
class Next : Base
class Open : "?"

method Base::run key base_run of Base
b0:
  %1 = param 0
  call virtual::part::base_part(%1)
  return

method Base::part key base_part of Base
b0:
  return

method Far::part key far_part of Far
b0:
  return

method Next::part key next_part of Next
b0:
  return

method Next::run key next_run of Next
b0:
  return

method Open::part key open_part of Open
b0:
  return
)");
  const FunctionIndex index(module);
  const ClassHierarchy classes(index);
  CHECK(classes.heirs(index.find("base_run").front()) == std::vector<std::string>{"Far"});
  CHECK(classes.heirs(index.find("base_part").front()).empty());
}

}  // namespace dtype_guard::flow
