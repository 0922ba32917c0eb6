// Parts of the engine that record, operate and call: each is built with those that stand before it, and what
// it would have the engine run is seen by a stand-in.
#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/calls.h"
#include "analyzer/flow/engine/calls/stubs.h"
#include "analyzer/flow/engine/memory/objects.h"
#include "analyzer/flow/engine/operations/dynamic_operators.h"
#include "analyzer/flow/engine/operations/scalars.h"
#include "analyzer/flow/roots/roots.h"
#include "tests/catch.h"
#include "tests/unit/flow/parts.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}

TEST_CASE_METHOD(Code, "sinks: a layer whose weight has another dtype is recorded") {
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  CHECK(!sinks.contract_of(at(18).name));
  const Operator* linear = find_operator("linear");
  REQUIRE(linear);
  const std::vector<Input> same = {{"input", tensor(Dtype::kFloat32).alternatives(), 1},
                                   {"weight", tensor(Dtype::kFloat32).alternatives(), 3}};
  sinks.record_operator(*activation, at(13), *linear, same, 1, state);
  CHECK(sinks.records().empty());
  const std::vector<Input> mixed = {{"input", tensor(Dtype::kFloat32).alternatives(), 1},
                                    {"weight", tensor(Dtype::kBFloat16).alternatives(), 3}};
  sinks.record_operator(*activation, at(13), *linear, mixed, 1, state);
  CHECK(effects.sinks().all(names.symbols, [](const SinkRecord&) { return std::nullopt; }).size() == 1);
}

namespace {
struct Operations : Code {
  Registrations registrations{program.functions, root, names, memory};
  Conversions conversions{program, root, names, effects, memory};
  Ranks ranks{names, root, rounds, memory};
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  Operators operators{subject, names, effects, rounds, memory, ranks};
  Dictionaries dictionaries{names, questions};
};
}  // namespace

TEST_CASE_METHOD(Operations, "operators: the table says what a sum of two dtypes is") {
  const Operator* add = find_operator("add");
  REQUIRE(add);
  give(1, tensor(Dtype::kFloat32, Rank::exactly(2)));
  give(3, tensor(Dtype::kBFloat16, Rank::exactly(2)));
  const Value out = operators.apply(*activation, at(4), *add, operators.operands(at(4), *add, state), state);
  REQUIRE(out.single());
  CHECK(out.single()->dtype == Dtype::kFloat32);
  CHECK(!operators.cannot_store(*activation, at(4), state));
}

TEST_CASE_METHOD(Operations, "scalars: a comparison of known numbers is known") {
  Scalars scalars{subject, names, effects, questions, memory, ranks};
  give(1, tensor(Dtype::kFloat32, Rank::exactly(3)));
  give(5, *scalars.scalar_operation(*activation, at(5), state));
  give(6, Value(Alternative::integer(3)));
  CHECK(truth(*scalars.scalar_operation(*activation, at(7), state)) == true);
  CHECK(!scalars.scalar_operation(*activation, at(4), state));
}

TEST_CASE_METHOD(Operations, "dictionaries: what a root is handed may lack a key") {
  HeapObject known, input;
  known.type = input.type = "dict";
  input.is_input = true;
  known.cells[names.ids.field("mask")] = value(state, 1);
  CHECK(dictionaries.looked_up(known, 5, "mask", Value::none()) == value(state, 1));
  CHECK(dictionaries.looked_up(known, 5, "other", Value::none()) == Value::none());
  CHECK(dictionaries.looked_up(input, 6, "mask", Value::none()).begin()->kind == Kind::kUnknown);
  CHECK(!dictionaries.dictionary_operation(*activation, at(4), state));
}

TEST_CASE_METHOD(Operations, "dictionaries: a text names the field that it is") {
  HeapObject known;
  known.type = "dict";
  const Key mask = names.ids.field("mask");
  known.cells[mask] = value(state, 1);
  CHECK(dictionaries.named_by(known, Value(Alternative::text("mask"))) == mask);
  CHECK(dictionaries.named_by(known, Value(Alternative::text("other"))).kind == Key::Kind::kAny);
  CHECK(dictionaries.named_by(known, Value::unknown()).kind == Key::Kind::kAny);
  known.rest = value(state, 1);  // what stands there under other texts
  CHECK(dictionaries.named_by(known, Value(Alternative::text("mask"))) == mask);
  CHECK(dictionaries.named_by(known, Value(Alternative::text("other"))).kind == Key::Kind::kAny);
}

TEST_CASE_METHOD(Operations, "dynamic operators: an index takes what stands there, and x += y may be x + y") {
  DynamicOperators dynamic{names, rounds, memory, ranks, dictionaries, conversions, registrations, runs};
  Objects objects{program.functions, names, sightings, questions, rounds, memory};
  give(8, objects.pack(*activation, at(8), state));
  give(14, Value(Alternative::integer(0)));
  const auto part = dynamic.dynamic_operation(*activation, at(15), state);
  REQUIRE(part);
  CHECK(*part == value(state, 1));
  give(6, Value(Alternative::integer(3)));
  CHECK(dynamic.dynamic_operation(*activation, at(16), state));
  CHECK(runs.operated == std::vector<std::string>{"add"});
  CHECK(!dynamic.dynamic_operation(*activation, at(4), state));
}

TEST_CASE_METHOD(Operations, "library modules: forward() is their operator on their parameters") {
  LibraryModules modules{subject, root,  names,     effects,      questions, rounds,
                         memory,  sinks, operators, dictionaries, runs};
  Objects objects{program.functions, names, sightings, questions, rounds, memory};
  give(12, objects.library_module(*activation, at(12), state));
  const auto out = modules.library_forward(*activation, at(13), state);
  REQUIRE(out);
  CHECK(out->begin()->dtype == Dtype::kFloat32);
  CHECK(!modules.library_forward(*activation, at(4), state));
}

namespace {
struct Rooted : Operations {
  MadeHalf made_half{subject, work, names, effects, conversions, runs};
  Inputs inputs{subject, root, names, effects, memory, made_half, runs};
  Value layer(Dtype dtype, bool stated) {
    const Value handle = memory.shared_tensor(names.ids.object(3, &module, 1), HeapObject::Kind::kTensor,
                                              tensor(dtype), state, stated);
    const Value out = of_type("Layer");
    state.change(out.single()->object).registered.change() = {
        {Registration::Kind::kParameter, "weight", handle}};
    state.change(out.single()->object).cells[names.ids.field("scale")] = tensor(Dtype::kFloat32);
    return out;
  }
};
}  // namespace

TEST_CASE_METHOD(Rooted, "made half: autocast is not for a module that makes itself half") {
  setting.autocast = Dtype::kFloat16;
  CHECK(!made_half.contradicts_autocast(state, {layer(Dtype::kFloat16, false)}));
  CHECK(made_half.contradicts_autocast(state, {layer(Dtype::kFloat16, true)}));
}

TEST_CASE_METHOD(Rooted, "made half: what a root leaves is noted, by class") {
  made_half.begin_notes();
  made_half.note_halves(state, {layer(Dtype::kFloat16, true)}, {});
  CHECK(made_half.noted().halves.at(Registration::Kind::kParameter).half.contains("Layer"));
  made_half.begin_root();
  CHECK(made_half.noted().halves.empty());
}

TEST_CASE_METHOD(Rooted, "inputs: a tensor is what the setting hands in, and an object as constructed") {
  const Parameter& x = module.functions[find("layer_run")].parameters[0];
  const Value given = inputs.input(x, 1, 0, Nature::kArgument, state);
  CHECK(effects.is_input(given));
  CHECK(given.begin()->dtype == Dtype::kFloat16);
  const Value object = inputs.object_of_root("Layer", state);
  REQUIRE(object.single());
  CHECK(runs.called == std::vector<std::uint32_t>{find("layer_made")});
}

TEST_CASE_METHOD(Rooted, "other methods: what one of them narrows is in doubt") {
  OtherMethods others{program, names, effects, memory, inputs, runs};
  const Value object = layer(Dtype::kFloat32, true);
  const Key scale = names.ids.field("scale");
  const auto narrows = [&](const std::vector<Value>& arguments, State& after) {
    after.change(arguments[0].single()->object).cells[scale] = tensor(Dtype::kBFloat16);
    return Value::none();
  };
  State kept = state;
  others.doubt_reassigned(kept, {object}, find("layer_run"), 1);
  CHECK(!kept.find(object.single()->object)->cells.at(scale).begin()->uncertain);
  runs.on_call = narrows;
  others.doubt_reassigned(state, {object}, find("layer_run"), 1);
  CHECK(state.find(object.single()->object)->cells.at(scale).begin()->uncertain);
}

TEST_CASE_METHOD(Rooted, "escapes: unseen code may do anything to a list") {
  Escapes escapes{subject, root, names, effects, questions, memory, sinks, inputs, runs};
  Objects objects{program.functions, names, sightings, questions, rounds, memory};
  give(8, objects.pack(*activation, at(8), state));
  const Value given = escapes.unknown_call(*activation, at(18), state);
  CHECK(given.begin()->kind == Kind::kUnknown);
  CHECK(memory.elements(state, value(state, 8)).front().begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Rooted, "calls: the callee runs with its arguments, defaults among them") {
  LibraryModules modules{subject, root,  names,     effects,      questions, rounds,
                         memory,  sinks, operators, dictionaries, runs};
  Escapes escapes{subject, root, names, effects, questions, memory, sinks, inputs, runs};
  Calls calls{subject,       root,   names,   effects, questions,    memory,
              registrations, inputs, escapes, modules, dictionaries, runs};
  CHECK(calls.call_instruction(*activation, at(17), state));
  CHECK(runs.called == std::vector<std::uint32_t>{find("other")});
  REQUIRE(runs.handed.size() == 2);
  CHECK(runs.handed[0] == value(state, 1));
  CHECK(truth(runs.handed[1]) == true);
  CHECK(calls.followed().followed.contains(&at(17)));
  CHECK(calls.call_instruction(*activation, at(18), state));
  CHECK(calls.followed().lost.contains(&at(18)));
}

TEST_CASE_METHOD(Rooted, "stubs: a function with a source is itself") {
  Stubs stubs{program.functions};
  CHECK(!stubs.stub_at(find("other"), &at(17)));
}

TEST_CASE_METHOD(Rooted, "roots: the setting fills the parameters, and a constructor the object") {
  OtherMethods others{program, names, effects, memory, inputs, runs};
  Roots roots{subject, root, names, effects, made_half, inputs, others, runs};
  roots.evaluate_root(find("layer_run"), {}, OtherCode::kTrusted, {});
  REQUIRE(runs.called == std::vector<std::uint32_t>{find("layer_made"), find("layer_run")});
  REQUIRE(runs.handed.size() == 2);
  CHECK(runs.handed[0].begin()->kind == Kind::kObject);
  CHECK(runs.handed[1].begin()->assumed);
}

}  // namespace dtype_guard::flow
