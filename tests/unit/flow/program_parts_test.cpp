// What a program's parts say of functions and objects: who calls, makes and holds what.
#include <string>
#include <vector>

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/called_modules.h"
#include "analyzer/flow/program/callers.h"
#include "analyzer/flow/program/constructions.h"
#include "analyzer/flow/program/consulted.h"
#include "analyzer/flow/program/default_dtypes.h"
#include "analyzer/flow/program/postdominators.h"
#include "analyzer/flow/program/units_with_main.h"
#include "analyzer/flow/program/watched_body.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

using Ids = std::vector<std::uint32_t>;

struct Parsed {
  explicit Parsed(const std::string& text) : module(parse("file \"f.cpp\"\n" + text)) {}
  std::uint32_t id(std::string_view key) const { return index.find(key).front(); }
  Module module;
  FunctionIndex index{module};
};

const char* const kCalls = R"(
method Layer::run key run of Layer
b0:
  return

function leaf key leaf
b0:
  return

function twice key twice
  parameter layer: other
b0:
  %1 = param 0
  call leaf()
  call leaf()
  call attribute::run(%1)
  return

function again key again
b0:
  call again()
  call twice()
  return
)";

// Objects of `Layer`, of which one is told a flag, one a size, one a dtype, and one what its owner hands on.
const char* const kMade = R"(
class Layer
class Model
class Cache

constructor Layer::Layer key made of Layer
  parameter size: number
  parameter wide: other
  parameter named: dtype
b0:
  return

constructor Model::Model key model_made of Model
  parameter wide: other
b0:
  %1 = param 0
  %2 = param 1
  %3 = object Layer()
  call made(%3, wide=%2)
  return

function flag key flag
b0:
  %1 = object Layer()
  %2 = const true
  call made(%1, wide=%2)
  return

function size key size
b0:
  %1 = object Layer()
  %2 = const 8
  call made(%1, %2)
  return

function dtype key dtype
b0:
  %1 = object Layer()
  %2 = const true
  %3 = const float32
  call made(%1, wide=%2, named=%3)
  return

function whole key whole
b0:
  %1 = object Model()
  %2 = const true
  call model_made(%1, %2)
  return

method Model::again key again of Model
b0:
  %1 = object Model()
  %2 = const true
  call model_made(%1, %2)
  return

constructor Cache::Cache key cache_made of Cache
b0:
  return

function Cache::empty key empty of Cache
  variables made
b0:
  %1 = object Cache()
  call cache_made(%1)
  store made, %1
  %2 = load made
  return %2

function cache key cache
b0:
  %1 = object Cache()
  call cache_made(%1)
  return %1
)";

// A model that holds what it was handed under the name of its part, and calls it and another.
const char* const kHeld = R"(
class Rope
class Other
class Model

method Rope::forward key rope of Rope
b0:
  return

method Other::forward key other of Other
b0:
  return

constructor Model::Model key made of Model
  parameter part: other
b0:
  %1 = param 0
  %2 = param 1
  store %1.rope, %2
  return

method Model::run key run of Model
b0:
  %1 = param 0
  %2 = load %1.rope
  %3 = call attribute::forward(%2)
  %4 = load %1.unknown
  %5 = call attribute::forward(%4)
  return

function maker key maker
b0:
  %1 = object Rope()
  %2 = object Model()
  call made(%2, %1)
  return
)";

}  // namespace

TEST_CASE("callers: each once, in the program's order, itself among them") {
  const Parsed of(kCalls);
  const Callers callers(of.index);
  CHECK(callers.of(of.id("leaf")) == Ids{of.id("twice")});
  CHECK(callers.of(of.id("twice")) == Ids{of.id("again")});
  CHECK(callers.of(of.id("again")) == Ids{of.id("again")});
  CHECK(callers.of(of.id("run")) == Ids{of.id("twice")});
  CHECK(callers.by_key()[of.id("run")].empty());
  CHECK(callers.by_key()[of.id("leaf")] == Ids{of.id("twice")});
}

TEST_CASE("constructions: makers say more than sizes, and name no dtype") {
  const Parsed of(kMade);
  const Constructions constructions(of.index);
  CHECK(constructions.makers("Layer") == Ids{of.id("whole"), of.id("flag")});
  CHECK(constructions.makers("Model") == Ids{of.id("whole")});
  CHECK(constructions.makers("Other").empty());
}

TEST_CASE("constructions: all places, where all make one for others and none names a dtype") {
  const Parsed of(kMade);
  const Constructions constructions(of.index);
  const std::vector<Construction> all = constructions.all_of("Cache");
  REQUIRE(all.size() == 2);
  CHECK(all[0].function == of.id("empty"));
  CHECK(all[1].function == of.id("cache"));
  CHECK(constructions.all_of("Model").empty());  // its makers use it themselves
  CHECK(constructions.all_of("Layer").empty());
}

TEST_CASE("called modules: an object is followed into the field that holds it") {
  const Parsed of(kHeld);
  const ClassHierarchy classes(of.index);
  const CalledModules modules(of.index, classes);
  const std::vector<CalledModules::In>& calls = modules.calls_of(of.id("rope"));
  REQUIRE(calls.size() == 1);
  CHECK(calls.front().first == of.id("run"));
  CHECK(calls.front().second->result == 3);
  CHECK(modules.calls_of(of.id("other")).empty());  // no object of that class is made
  CHECK(modules.calls_of(of.id("run")).empty());    // no forward
}

TEST_CASE("default dtypes: another one holds for what is called behind the function that sets it") {
  const std::string setter = "function set key set\nb0:\n  %1 = const float16\n  set_default_dtype %1\n";
  const std::string others =
      "  return\nfunction model key model\nb0:\n  return\nfunction apart key apart\nb0:\n  call model()\n"
      "  return\nfunction script key script\nb0:\n  call set()\n  call model()\n  return\n";
  const Parsed of(setter + others);
  const Callers callers(of.index);
  const DefaultDtypes dtypes(of.index, callers);
  CHECK(dtypes.may_differ_for(of.id("model")));
  CHECK(!dtypes.may_differ_for(of.id("apart")));
  CHECK(!dtypes.may_differ_for(of.id("script")));
  const Parsed restored(setter + "  %2 = const float32\n  set_default_dtype %2\n" + others);
  const Callers its_callers(restored.index);
  CHECK(!DefaultDtypes(restored.index, its_callers).may_differ_for(restored.id("model")));
}

TEST_CASE("consulted: what is read while one lives is noted by the innermost") {
  Consulted::note_flow();
  const Consulted outer;
  Consulted::note_body(1);
  {
    const Consulted inner;
    Consulted::note_flow();
    Consulted::note_body(2);
    Consulted::note_calls_of(3);
    CHECK(inner.has_flow());
    CHECK(inner.bodies() == std::set<std::uint32_t>{2});
    CHECK(inner.forwards() == std::set<std::uint32_t>{3});
  }
  Consulted::note_body(4);
  CHECK(!outer.has_flow());
  CHECK(outer.bodies() == std::set<std::uint32_t>{1, 4});
}

TEST_CASE("postdominators: where two ways meet again follows both, and a way that throws does not count") {
  const Module module = parse(
      "function f\nb0:\n  %1 = const true\n  branch %1 ? b1 : b2\nb1:\n  jump b3\nb2:\n  branch %1 ? b3 : "
      "b4\n"
      "b3:\n  return\nb4:\n  unreachable\n");
  const Postdominators after(module.functions[0], {0, 1, 2, 4, 3});
  CHECK(after.always_follows(0, 3));
  CHECK(after.always_follows(2, 3));
  CHECK(!after.always_follows(0, 1));
  CHECK(!after.always_follows(3, 0));
  CHECK(after.always_follows(4, 1));  // it does not return
}

TEST_CASE("units with main: what another unit has as well is open, and a header's waits for one") {
  Module module = parse(
      "file \"main.cpp\"\nfile \"h.h\"\nfunction main main\nb0:\n  return\n"
      "function own\nb0:\n  return\nfunction shared\nb0:\n  return\n"
      "function header\nb0:\n  return\n");
  const auto place = [&](std::size_t function, std::vector<std::uint32_t> units, std::uint32_t file) {
    module.functions[function].units = std::move(units);
    module.functions[function].range.file = file;
  };
  place(0, {0}, 0);
  place(1, {0}, 0);
  place(2, {0, 1}, 1);
  place(3, {0}, 1);
  const UnitsWithMain units(module);
  CHECK(!units.is_open(module.functions[1]));
  CHECK(!units.waits(module.functions[1]));
  CHECK(units.is_open(module.functions[2]));
  CHECK(!units.waits(module.functions[2]));
  CHECK(units.waits(module.functions[3]));
}

TEST_CASE(
    "watched bodies: one that only hands an operand on, one that attends with it, one that is not seen") {
  const Parsed program(R"(
function hands key hands
  parameter q: tensor
b0:
  %1 = param 0
  %2 = call unseen(%1)
  return

function attends key attends
  parameter q: tensor
b0:
  %1 = param 0
  %2 = sink flash(q=%1, k=%1, v=%1)
  return

function main key main
  parameter q: tensor
b0:
  %1 = param 0
  %2 = call hands(%1)
  %3 = call attends(%1)
  %4 = call unseen(%1)
  return
)");
  const WatchedBodies bodies(program.index);
  const DtypeSet half{Dtype::kFloat16};
  const std::vector<Instruction>& calls = program.index.function(program.id("main")).blocks[0].instructions;
  CHECK(bodies.use_of_operand(calls[1], 0, half) == Use::kHandedOn);
  CHECK(bodies.use_of_operand(calls[2], 0, half) == Use::kOwn);
  CHECK(bodies.use_of_operand(calls[3], 0, half) == Use::kHandedOn);
  CHECK(bodies.use_of_operand(calls[2], 0, half) == Use::kOwn);  // as it was found
}

}  // namespace dtype_guard::flow
