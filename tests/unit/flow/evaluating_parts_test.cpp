// Parts of the engine that record, operate and call: each is built with those that stand before it, and what
// it would have the engine run is seen by a stand-in.
#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/calls.h"
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
  Effects effects;
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

TEST_CASE_METHOD(Code, "operators: the table says what a sum of two dtypes is") {
  Effects effects;
  Ranks ranks{names, root, rounds, memory};
  Operators operators{subject, names, effects, rounds, memory, ranks};
  const Operator* add = find_operator("add");
  REQUIRE(add);
  give(1, tensor(Dtype::kFloat32, Rank::exactly(2)));
  give(3, tensor(Dtype::kBFloat16, Rank::exactly(2)));
  const Value out = operators.apply(*activation, at(4), *add, operators.operands(at(4), *add, state), state);
  REQUIRE(out.single());
  CHECK(out.single()->dtype == Dtype::kFloat32);
  CHECK(!operators.cannot_store(*activation, at(4), state));
}

TEST_CASE_METHOD(Code, "scalars: a comparison of known numbers is known") {
  Effects effects;
  Ranks ranks{names, root, rounds, memory};
  Scalars scalars{subject, names, effects, questions, memory, ranks};
  give(1, tensor(Dtype::kFloat32, Rank::exactly(3)));
  give(5, *scalars.scalar_operation(*activation, at(5), state));
  give(6, Value(Alternative::integer(3)));
  CHECK(truth(*scalars.scalar_operation(*activation, at(7), state)) == true);
  CHECK(!scalars.scalar_operation(*activation, at(4), state));
}

TEST_CASE_METHOD(CodeState, "dictionaries: what a root is handed may lack a key") {
  Questions questions{names};
  Dictionaries dictionaries{names, questions};
  HeapObject known, input;
  known.type = input.type = "dict";
  input.is_input = true;
  known.cells[names.ids.field("mask")] = value(state, 1);
  CHECK(dictionaries.looked_up(known, 5, "mask", Value::none()) == value(state, 1));
  CHECK(dictionaries.looked_up(known, 5, "other", Value::none()) == Value::none());
  CHECK(dictionaries.looked_up(input, 6, "mask", Value::none()).begin()->kind == Kind::kUnknown);
  CHECK(!dictionaries.dictionary_operation(*activation, at(4), state));
}

TEST_CASE_METHOD(CodeState, "dictionaries: a text names the field that it is") {
  Questions questions{names};
  const Dictionaries dictionaries{names, questions};
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

TEST_CASE_METHOD(Code, "dynamic operators: an index takes what stands there, and x += y may be x + y") {
  Effects effects;
  const Registrations registrations{program, root, names, memory};
  Conversions conversions{program, root, names, effects, memory};
  Ranks ranks{names, root, rounds, memory};
  Dictionaries dictionaries{names, questions};
  DynamicOperators dynamic{names, rounds, memory, ranks, dictionaries, conversions, registrations, runs};
  give(8, list_of({value(state, 1), value(state, 3)}));
  give(14, Value(Alternative::integer(0)));
  const auto part = dynamic.dynamic_operation(*activation, at(15), state);
  REQUIRE(part);
  CHECK(*part == value(state, 1));
  give(6, Value(Alternative::integer(3)));
  CHECK(dynamic.dynamic_operation(*activation, at(16), state));
  CHECK(runs.operated == std::vector<std::string>{"add"});
  CHECK(!dynamic.dynamic_operation(*activation, at(4), state));
}

TEST_CASE_METHOD(Code,
                 "library modules: forward() is their operator on their parameters, which the setting says") {
  Effects effects;
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  Ranks ranks{names, root, rounds, memory};
  Operators operators{subject, names, effects, rounds, memory, ranks};
  Conditions conditions{program, names, effects, memory, runs};
  Dictionaries dictionaries{names, questions};
  LibraryModules modules{subject, root,  names,     effects,    questions,    rounds,
                         memory,  sinks, operators, conditions, dictionaries, runs};
  give(12, of_type("torch::nn::Linear"));
  for (const Dtype each : {Dtype::kFloat32, Dtype::kFloat16}) {
    give(1, tensor(each));
    setting.parameters = each;
    const auto out = modules.library_forward(*activation, at(13), state);
    REQUIRE(out);
    REQUIRE(out->single());
    CHECK(out->single()->dtype == each);
  }
  CHECK(!modules.library_forward(*activation, at(4), state));
}

namespace {
struct Halves : Code {
  Effects effects;
  Conversions conversions{program, root, names, effects, memory};
  MadeHalf made_half{subject, work, names, effects, conversions, runs};
  Value layer(Dtype dtype, bool stated) {
    const Value handle = memory.shared_tensor(names.ids.object(3, &module, 1), HeapObject::Kind::kTensor,
                                              tensor(dtype), state, stated);
    const Value out = of_type("Layer");
    state.change(out.single()->object).registered.change() = {
        {Registration::Kind::kParameter, "weight", handle}};
    state.change(out.single()->object).cells[names.ids.field("scale")] = tensor(Dtype::kFloat32);
    return out;
  }
  Value closure_of(const std::string& key) {
    Alternative out =
        Alternative::at(Kind::kClosure, names.ids.object(4, &module, static_cast<int>(find(key))));
    out.function = find(key);
    HeapObject captures;
    captures.kind = HeapObject::Kind::kClosure;
    state.put(out.object, std::move(captures));
    return Value(out);
  }
};
}  // namespace

TEST_CASE_METHOD(Halves, "made half: autocast is not for a module that makes itself half") {
  setting.autocast = Dtype::kFloat16;
  CHECK(!made_half.contradicts_autocast(state, {layer(Dtype::kFloat16, false)}));
  CHECK(made_half.contradicts_autocast(state, {layer(Dtype::kFloat16, true)}));
}

TEST_CASE_METHOD(Halves, "made half: what a root leaves is noted, by class") {
  made_half.begin_notes();
  made_half.note_halves(state, {layer(Dtype::kFloat16, true)}, {});
  CHECK(made_half.noted().halves.at(Registration::Kind::kParameter).half.contains("Layer"));
  made_half.begin_root();
  CHECK(made_half.noted().halves.empty());
}

namespace {
struct Rooted : Halves {
  Inputs inputs{subject, root, names, effects, memory, made_half, runs};
};
}  // namespace

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
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  Escapes escapes{subject, root, names, effects, questions, memory, sinks, inputs, runs};
  give(8, list_of({value(state, 1)}));
  const Value given = escapes.unknown_call(*activation, at(18), state);
  CHECK(given.begin()->kind == Kind::kUnknown);
  CHECK(memory.elements(state, value(state, 8)).front().begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Rooted,
                 "escapes: a lambda that unseen code is handed runs some day, and converts nothing now") {
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  Escapes escapes{subject, root, names, effects, questions, memory, sinks, inputs, runs};
  module.functions[find("other")].kind = FunctionKind::kLambda;
  give(8, closure_of("other"));
  runs.on_call = [&](const std::vector<Value>&, State&) {
    effects.note_conversion_to_half();
    return Value::none();
  };
  escapes.unknown_call(*activation, at(18), state);
  CHECK(runs.called == std::vector<std::uint32_t>{find("other")});
  REQUIRE(runs.handed.size() == 3);
  CHECK(runs.handed[1].begin()->assumed);  // as the setting hands it in
  CHECK(!effects.converted_to_half());
}

namespace {
struct Calling : Rooted {
  Registrations registrations{program, root, names, memory};
  Ranks ranks{names, root, rounds, memory};
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  Operators operators{subject, names, effects, rounds, memory, ranks};
  Conditions conditions{program, names, effects, memory, runs};
  Dictionaries dictionaries{names, questions};
  LibraryModules modules{subject, root,  names,     effects,    questions,    rounds,
                         memory,  sinks, operators, conditions, dictionaries, runs};
  Escapes escapes{subject, root, names, effects, questions, memory, sinks, inputs, runs};
  Calls calls{subject,       root,   names,   effects, questions,    memory,
              registrations, inputs, escapes, modules, dictionaries, runs};
  Instruction by_value(ValueId called) {
    Instruction out = at(17);
    out.name.clear();
    out.args = {{"", called}, {"", 1}};
    return out;
  }
};
}  // namespace

TEST_CASE_METHOD(Calling, "calls: the callee runs with its arguments, defaults among them") {
  CHECK(calls.call_instruction(*activation, at(17), state));
  CHECK(runs.called == std::vector<std::uint32_t>{find("other")});
  REQUIRE(runs.handed.size() == 2);
  CHECK(runs.handed[0] == value(state, 1));
  CHECK(truth(runs.handed[1]) == true);
  CHECK(calls.followed().followed.contains(&at(17)));
  CHECK(calls.call_instruction(*activation, at(18), state));
  CHECK(calls.followed().lost.contains(&at(18)));
  CHECK(value(state, 18).begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Calling, "calls: a path ends where the callee does not return") {
  runs.returns = false;
  CHECK(!calls.call_instruction(*activation, at(17), state));
}

TEST_CASE_METHOD(Calling,
                 "calls: a value runs the functions that it may be, and gives what one of them gives") {
  runs.on_call = [&](const std::vector<Value>&, State&) {
    return tensor(runs.called.back() == find("other") ? Dtype::kFloat32 : Dtype::kBFloat16);
  };
  give(30, closure_of("other"));
  CHECK(calls.call_instruction(*activation, by_value(30), state));
  CHECK(runs.handed[0] == value(state, 1));  // a function does not take itself
  CHECK(!value(state, 17).single()->uncertain);
  give(30, Value({*closure_of("other").single(), *closure_of("first").single()}));
  runs.called.clear();
  CHECK(calls.call_instruction(*activation, by_value(30), state));
  CHECK(runs.called.size() == 2);
  REQUIRE(value(state, 17).size() == 2);
  CHECK(value(state, 17).begin()->uncertain);
}

TEST_CASE_METHOD(Calling, "calls: a name runs the method that the object's class has") {
  Instruction call = at(17);
  call.name = "attribute::run";
  call.args = {{"", 19}, {"", 1}};
  give(19, of_type("Layer"));
  CHECK(calls.call_instruction(*activation, call, state));
  CHECK(runs.called == std::vector<std::uint32_t>{find("layer_run")});
  CHECK(runs.handed == std::vector<Value>{value(state, 19), value(state, 1)});
  call.name = "attribute::unseen";
  CHECK(calls.call_instruction(*activation, call, state));
  CHECK(runs.called.size() == 1);
}

TEST_CASE_METHOD(
    Calling, "calls: of a tensor that is not known the setting says what a function of the file is handed") {
  give(1, Value::unknown());
  CHECK(calls.call_instruction(*activation, at(17), state));
  CHECK(runs.handed[0].begin()->kind == Kind::kUnknown);  // others may call it
  module.functions[find("other")].external = false;
  runs.on_call = [](const std::vector<Value>& arguments, State&) { return arguments[0]; };
  CHECK(calls.call_instruction(*activation, at(17), state));
  CHECK(runs.handed[0].begin()->assumed);
  CHECK(value(state, 17).begin()->uncertain);
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
