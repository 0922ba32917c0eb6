// Cases that the program itself makes: what is seen while a caller runs, what it hands over, and what passes
// keep of functions when their program is linked anew.
#include "analyzer/flow/roots/known_cases.h"

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/roots/handed_arguments.h"
#include "tests/catch.h"
#include "tests/unit/flow/parts.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

const char* const kProgram = R"ir(file "f.cpp"

class Layer
class Other

constructor Layer::Layer key layer_made of Layer
  parameter causal: number
b0:
  return

method Layer::run key layer_run of Layer
  parameter x: tensor
  parameter fast: number
b0:
  %1 = param 1
  return %1

method Other::run key other_run of Other
  parameter x: tensor
b0:
  %1 = param 1
  return %1

function main key main
  parameter x: tensor
b0:
  %1 = param 0
  %2 = object Layer()
  %5 = const true
  call layer_made(%2, %5)
  %3 = call attribute::run::layer_run(%2, %1)
  %4 = closure "lambda#1"()
  return %3

lambda "lambda#1" key "lambda#1"
b0:
  return

function factory key factory
b0:
  %1 = object Other()
  return %1
)ir";

struct Parsed {
  Module module = parse(kProgram);
  std::uint32_t find(const std::string& key) const {
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
      if (module.functions[i].key == key) return i;
    }
    return static_cast<std::uint32_t>(module.functions.size());
  }
  const Instruction& in_main(Op op) const {
    for (const Instruction& each : module.functions[find("main")].blocks[0].instructions) {
      if (each.op == op) return each;
    }
    throw std::runtime_error("no such instruction");
  }
};
}  // namespace

TEST_CASE_METHOD(Parsed, "sightings: objects of one class, or what arrives at one instruction") {
  Sightings sightings;
  const Instruction& made = in_main(Op::kObject);
  sightings.note_object(1, "Layer", {0, &made});
  CHECK(sightings.made().empty());
  sightings.look_for_class("Layer");
  sightings.note_object(1, "Layer", {0, &made});
  sightings.note_object(2, "Other", {0, &made});
  REQUIRE(sightings.made().size() == 1);
  CHECK(sightings.made().front().first == 1);
  sightings.look_for_arrival(made);
  CHECK(sightings.made().empty());
  CHECK(sightings.is_looked_for(made));
  CHECK(!sightings.is_looked_for(in_main(Op::kCall)));
  sightings.note_arrival(State());
  CHECK(sightings.arrived());
  sightings.end();
  CHECK(!sightings.arrived());
}

TEST_CASE_METHOD(Parsed, "calls by class: of a named method only its own class's kin") {
  const FunctionIndex index(module);
  const CallsByClass calls(index);
  const auto calls_it = [&](const std::vector<std::uint32_t>& all, const char* key) {
    return std::find(all.begin(), all.end(), find(key)) != all.end();
  };
  CHECK(calls_it(index.callees(find("main")), "layer_run"));
  CHECK(calls_it(calls.of(find("main")), "layer_run"));
  CHECK(!calls_it(calls.of(find("main")), "other_run"));
}

TEST_CASE_METHOD(Parsed, "entered: calls, and lambdas that are made") {
  const FunctionIndex index(module);
  const Entered entered(index);
  const std::vector<std::uint32_t>& from = entered.from(find("main"));
  CHECK(std::find(from.begin(), from.end(), find("lambda#1")) != from.end());
  CHECK(std::find(from.begin(), from.end(), find("layer_made")) != from.end());
  CHECK(entered.from(find("layer_run")).empty());
}

TEST_CASE("function results: found once, and anew for a function that has another body") {
  int found = 0;
  const auto find = [&] { return ++found; };
  const FunctionResults<int> results(2);
  CHECK(results.of(0, find) == 1);
  CHECK(results.of(0, find) == 1);
  CHECK(results.of(1, find) == 2);
  const FunctionResults<int> after(results, {1});
  CHECK(after.of(0, find) == 1);
  CHECK(after.of(1, find) == 3);
}

TEST_CASE_METHOD(Code, "handed arguments: what is known of them takes the place of the setting's") {
  const Function& called = module.functions[find("layer_run")];
  Instruction call;
  call.args = {{"", 1}, {"x", 3}};
  give(1, of_type("Layer"));
  Alternative cast = *tensor(Dtype::kBFloat16).single();
  cast.origin = 1;
  give(3, Value(cast));
  std::vector<Value> arguments = {Value::none(), tensor(Dtype::kFloat16)};
  State root_state;
  const auto hand_over = [&] {
    hand_over_arguments({&call, state}, called, arguments, {names.ids, names.symbols, 1, root_state});
  };
  CHECK(parameter_for(called, call, 1) == 0U);
  call.args[1].name = "y";
  CHECK(!parameter_for(called, call, 1));
  hand_over();
  CHECK(arguments[1].begin()->dtype == Dtype::kFloat16);
  call.args[1].name = "x";
  hand_over();
  CHECK(arguments[1].begin()->dtype == Dtype::kBFloat16);
}

TEST_CASE("known cases: an object as its maker leaves it, and what arrives at a call") {
  Code code;
  Effects effects;
  Module module = parse(kProgram);
  Program program(module);
  Subject subject{program, program.functions, code.options, code.setting, code.torch_version};
  Conversions conversions{program, code.root, code.names, effects, code.memory};
  MadeHalf made_half{subject, code.work, code.names, effects, conversions, code.runs};
  Inputs inputs{subject, code.root, code.names, effects, code.memory, made_half, code.runs};
  OtherMethods others{program, code.names, effects, code.memory, inputs, code.runs};
  Roots roots{subject, code.root, code.names, effects, made_half, inputs, others, code.runs};
  Sightings sightings;
  KnownCases cases{subject, code.names, effects, sightings, inputs, roots};
  const std::uint32_t root = program.functions.find("layer_run").front();
  const std::vector<std::uint32_t> makers = program.constructions.makers("Layer");
  REQUIRE(makers == program.functions.find("main"));
  const Instruction* made = program.functions.effects(makers.front()).makes.front();
  code.runs.on_call = [&](const std::vector<Value>&, State& state) {
    HeapObject object;
    object.type = "Layer";
    state.put(7, std::move(object));
    sightings.note_object(7, "Layer", {0, made});
    effects.count_step();
    return Value::none();
  };
  const std::vector<Witness>& all = cases.witnesses(root);
  REQUIRE(all.size() == 1);
  CHECK(all.front().at.instruction == made);
  CHECK(all.front().made.object.single()->object == 7);
  CHECK(inputs.steps() == 1);
  CHECK(effects.steps() == 0);
  CHECK(&cases.witnesses(root) == &all);  // looked for once
  CHECK(code.runs.called.size() == 1);

  const std::uint32_t factory = program.functions.find("factory").front();
  code.runs.on_call = [&](const std::vector<Value>&, State& state) {
    HeapObject object;
    object.type = "Other";
    state.put(9, std::move(object));
    sightings.note_object(9, "Other", {factory, program.functions.effects(factory).makes.front()});
    return Value::none();
  };
  const std::uint32_t user = program.functions.find("other_run").front();
  const std::vector<Witness>& handed = cases.all_objects("Other", user);
  REQUIRE(handed.size() == 1);
  CHECK(&cases.all_objects("Other", user) == &handed);
  CHECK(code.runs.called.size() == 2);
  CHECK(cases.all_objects("Layer", user).empty());  // what makes it uses it itself
  State state;
  CHECK(inputs.object_handed_over(handed.front(), state).single()->object == 9);
  CHECK(state.find(9)->type == "Other");
}

}  // namespace dtype_guard::flow
