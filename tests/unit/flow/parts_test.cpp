// Each part of the engine on its own: built with the parts that stand before it, and without the engine.
#include <functional>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/calls.h"
#include "analyzer/flow/engine/calls/stubs.h"
#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/engine/dtype_state.h"
#include "analyzer/flow/engine/memory/objects.h"
#include "analyzer/flow/engine/operations/casts.h"
#include "analyzer/flow/engine/operations/dynamic_operators.h"
#include "analyzer/flow/engine/operations/marks.h"
#include "analyzer/flow/engine/operations/scalars.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/roots/roots.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// In place of the engine: says what it was asked to run.
class Runs final : public Evaluator {
 public:
  Value call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId /*context*/,
             const Activation* /*caller*/, bool& alive, const Instruction* /*site*/) override {
    called.push_back(function);
    handed = arguments;
    alive = true;
    return on_call ? on_call(arguments, state) : Value::none();
  }
  Value operation(const Activation& /*activation*/, const Instruction& instruction,
                  State& /*state*/) override {
    operated.push_back(instruction.name);
    return Value::none();
  }
  HalvesOfRoot halves_of(std::uint32_t root) override {
    evaluated.push_back(root);
    return halves;
  }

  std::vector<std::uint32_t> called, evaluated;
  std::vector<std::string> operated;
  std::vector<Value> handed;
  std::function<Value(const std::vector<Value>&, State&)> on_call;
  HalvesOfRoot halves;
};

const char* const kModule = R"ir(file "f.cpp"

class Layer
  settable rate: number

constructor Layer::Layer key layer_made of Layer module
b0:
  return

method Layer::narrow key layer_narrow of Layer
b0:
  %1 = param 0
  %2 = load %1.scale
  %3 = const bfloat16
  %4 = cast %2, %3
  store %1.scale, %4
  return

method Layer::run key layer_run of Layer
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = load %1.scale
  %4 = op mul(%2, %3)
  return %4

function other key other
  parameter a: tensor
  parameter flag: other = true
b0:
  %1 = param 0
  return %1

function first key first
  parameter x: tensor
  variables q
b0:
  %1 = param 0
  %2 = const bfloat16
  %3 = cast %1, %2
  %4 = op add(%1, %3)
  %5 = op dim(%1) ; f.cpp:3:3-3:9 "x.dim()"
  %6 = const 3
  %7 = op eq(%5, %6)
  %8 = pack %1, %3
  %9 = op copy_of(%8)
  %10 = dtype_of %1
  %11 = op eq(%10, %2)
  %12 = module torch::nn::Linear()
  %13 = op "torch::nn::Linear::forward"(%12, %1)
  %14 = const 0
  %15 = op subscript(%8, index=%14)
  %16 = op "augmented::add"(%6, %14)
  %17 = call other(%1)
  %18 = call unseen(%8)
  %19 = object Layer()
  %20 = register parameter "weight", %19, %1
  retype %19, %2
  store q, %1
  %21 = load q
  %22 = op dict_has(%8, index=%14)
  set_autocast "cuda", dtype=%2, on=%7
  return %4
)ir";

// The function `first`, with a tensor of each instruction where it stands.
struct Code {
  explicit Code() {
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
      if (module.functions[i].key == "first") function = i;
    }
    activation.emplace(Activation{function, module.functions[function], program.functions.info(function), 1, 1,
                                  {}, 0, nullptr, {}, {}, {}, 0});
    names.ids.object(1, &module);  // the frame
    HeapObject frame;
    frame.kind = HeapObject::Kind::kFrame;
    state.put(activation->frame, std::move(frame));
    give(1, tensor(Dtype::kFloat32));
    give(2, Value(Alternative::a_dtype(Dtype::kBFloat16)));
    give(3, tensor(Dtype::kBFloat16));
  }

  const Instruction& at(ValueId id) const { return *activation->info.definition(id); }
  const Instruction& with(Op op) const {
    for (const Instruction& each : activation->code.blocks[0].instructions) {
      if (each.op == op) return each;
    }
    throw std::runtime_error("no such instruction");
  }
  void give(ValueId id, Value value) { state.values.change(id) = std::move(value); }
  std::uint32_t find(const std::string& key) const { return program.functions.find(key).front(); }
  static Value tensor(Dtype dtype, Rank rank = {}) { return Value(Alternative::tensor(dtype, rank)); }
  Value of_type(const std::string& type) {
    HeapObject object;
    object.type = type;
    const HeapId id = names.ids.object(2, &type);
    state.put(id, std::move(object));
    return Value(Alternative::at(Kind::kObject, id));
  }

  Module module = parse(kModule);
  Program program{module};
  AnalysisOptions options;
  PrecisionSetting setting{"half", Dtype::kFloat16, Dtype::kFloat16, Dtype::kFloat16,
                           Dtype::kFloat16, Dtype::kUndefined, false};
  std::string torch_version = "2.13";
  Subject subject{program, program.functions, options, setting, torch_version};
  Names names;
  RunningRoot root;
  Effects effects;
  MadeObjects made;
  Work work;
  Runs runs;
  std::uint32_t function = 0;
  std::optional<Activation> activation;
  State state;

  Questions questions{names};
  Rounds rounds{names};
  Memory memory{program, names, questions, rounds};
};
}  // namespace

TEST_CASE_METHOD(Code, "questions: what is asked twice is one question") {
  const SymbolSetId asked = questions.asked(*activation, at(5), state);
  CHECK(asked != 0);
  CHECK(questions.asked(*activation, at(5), state) == asked);
  CHECK(questions.asked(*activation, at(17), state) != asked);
}

TEST_CASE_METHOD(Code, "rounds: what an object of all rounds holds has no rank of one round") {
  Alternative one = Alternative::tensor(Dtype::kFloat32, Rank{});
  one.rank.symbol = names.ids.rank(1, &module);
  rounds.note_round(*activation, one.rank.symbol);
  CHECK(!rounds.is_of_rounds(one.rank.symbol));  // no block of this function runs again
  CHECK(rounds.kept_in(state, activation->frame, Value(one)).same(Value(one)) == false);
  CHECK(rounds.kept_in(state, activation->frame, Value(one)) == Value(one));
}

TEST_CASE_METHOD(Code, "memory: a place holds what was written, and one of two perhaps") {
  const Target q = memory.resolve(*activation, state, at(21).place);
  memory.write(state, q, tensor(Dtype::kFloat16));
  CHECK(memory.read(state, q) == tensor(Dtype::kFloat16));
  CHECK(memory.load(*activation, at(21), state) == tensor(Dtype::kFloat16));
  Target either = q;
  either.locations.push_back({activation->frame, {Key::Kind::kVariable, 7}});
  memory.write(state, either, tensor(Dtype::kFloat32));
  CHECK(memory.read(state, q).size() == 2);
  const Value handle = memory.shared_tensor(names.ids.object(1, &either), HeapObject::Kind::kTensor,
                                            tensor(Dtype::kBFloat16), state);
  REQUIRE(memory.tensors(state, handle).size() == 1);
  CHECK(memory.tensors(state, handle).front().dtype == Dtype::kBFloat16);
}

TEST_CASE_METHOD(Code, "memory: what unknown code was handed is not known any more") {
  const Target q = memory.resolve(*activation, state, at(21).place);
  memory.write(state, q, tensor(Dtype::kFloat16));
  memory.havoc(state, Value(Alternative::at(Kind::kReference, q.locations[0].object, q.locations[0].key)));
  CHECK(memory.read(state, q).begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Code, "objects: a copy of a list is another list") {
  Objects objects{program.functions, names, made, questions, rounds, memory};
  give(8, objects.pack(*activation, at(8), state));
  const Value copy = objects.copy_of(*activation, at(9), state);
  REQUIRE(copy.single());
  CHECK(copy.single()->object != argument(state, at(9), 0).single()->object);
  CHECK(memory.elements(state, copy).size() == 2);
}

TEST_CASE_METHOD(Code, "registrations and conversions: a parameter has the dtype that its module is given") {
  Registrations registrations{program.functions, root, names, memory};
  Conversions conversions{program, root, names, effects, memory};
  CHECK(registrations.is_module_type("torch::nn::Linear"));
  CHECK(!registrations.is_module_type("Other"));
  give(19, of_type("Layer"));
  const Value weight = registrations.registration(*activation, at(20), state);
  conversions.retype(*activation, with(Op::kRetype), state);
  REQUIRE(memory.tensors(state, weight).size() == 1);
  CHECK(memory.tensors(state, weight).front().dtype == Dtype::kBFloat16);
  CHECK(effects.converted_to_half);
  CHECK(!conversions.was_assumed(weight.single()->object));
}

TEST_CASE_METHOD(Code, "registrations: what a callee did to a tensor its caller sees") {
  Registrations registrations{program.functions, root, names, memory};
  const Value ranked = tensor(Dtype::kFloat32, Rank::exactly(3));
  give(1, ranked);
  TensorChanges callers = registrations.begin_call();
  registrations.set_rank(state, ranked, Rank::exactly(4));
  CHECK(value(state, 1).begin()->rank == Rank::exactly(4));
  give(3, ranked);
  registrations.take_over_changes(state, std::move(callers), *activation);
  CHECK(value(state, 3).begin()->rank == Rank{});
}

TEST_CASE_METHOD(Code, "ranks: what is asked of a tensor is its rank, and a comparison proves it") {
  Ranks ranks{names, made, rounds, memory};
  Alternative x = Alternative::tensor(Dtype::kFloat32, Rank{});
  x.rank = ranks.own_rank(*activation, at(1), x.rank);
  CHECK(x.rank.symbol != 0);
  give(1, Value(x));
  give(5, Value(ranks.dimensions_asked("dim", at(5), state)));
  give(6, Value(Alternative::integer(3)));
  CHECK(refine_count(state, at(7), true));
  CHECK(memory.tensors(state, value(state, 1)).front().rank.is_exact());
  CHECK(!refine_count(state, at(7), false));
}

TEST_CASE_METHOD(Code, "conditions: a check of a dtype leaves what has it") {
  Conditions conditions{program, effects, memory};
  Casts casts{names, memory};
  give(1, Value({Alternative::tensor(Dtype::kFloat32, Rank{}), Alternative::tensor(Dtype::kBFloat16, Rank{})}));
  give(10, casts.dtype_of(*activation, at(10), state));
  give(11, Value(Alternative::boolean(std::nullopt)));
  State other = state;
  CHECK(conditions.refine(*activation, state, 11, true));
  CHECK(value(state, 1) == tensor(Dtype::kBFloat16));
  CHECK(conditions.refine(*activation, other, 11, false));
  CHECK(value(other, 1) == tensor(Dtype::kFloat32));
}

TEST_CASE_METHOD(Code, "conditions: a check says what an input is") {
  Conditions conditions{program, effects, memory};
  Casts casts{names, memory};
  Alternative input = Alternative::tensor(Dtype::kFloat16, Rank{});
  input.assumed = true;
  give(1, effects.as_input(Value(input)));
  give(2, Value(Alternative::a_dtype(Dtype::kInt32)));
  give(10, casts.dtype_of(*activation, at(10), state));
  give(11, Value(Alternative::boolean(false)));
  CHECK(conditions.state_by_check(*activation, state, 11, true));
  CHECK(value(state, 1).begin()->dtype == Dtype::kInt32);
  CHECK(!value(state, 1).begin()->assumed);
}

TEST_CASE_METHOD(Code, "dtype state: what was saved comes back") {
  DtypeState dtypes{options.device, effects};
  const Value saved = dtypes.save_state(state);
  give(7, Value(Alternative::boolean(true)));
  dtypes.set_autocast(with(Op::kSetAutocast), state);
  CHECK(state.autocast.may_be_on);
  CHECK(!state.autocast.may_be_off);
  CHECK(effects.tells_half_types_apart);
  Instruction restore;
  restore.args.push_back({"", 7});
  give(7, saved);
  dtypes.restore_state(restore, state);
  CHECK(!state.autocast.may_be_on);
}

TEST_CASE_METHOD(Code, "casts: an explicit cast has an origin") {
  Casts casts{names, memory};
  const Value out = casts.cast(*activation, at(3), state);
  REQUIRE(out.single());
  CHECK(out.single()->dtype == Dtype::kBFloat16);
  REQUIRE(names.origins.find(out.single()->origin));
  CHECK(names.origins.find(out.single()->origin)->before == Dtype::kFloat32);
}

TEST_CASE_METHOD(Code, "marks: a dtype that is written into a descriptor leaves a step") {
  Marks marks{names, memory};
  Instruction store = at(21);
  CHECK(marks.stored(*activation, store, value(state, 2)).same(value(state, 2)));
  store.place.path.push_back({Place::Step::Kind::kField, "dtype", 0});
  const Value described = marks.stored(*activation, store, value(state, 2));
  CHECK(names.origins.find(described.begin()->trail, Step::Kind::kDescribed));
}

TEST_CASE_METHOD(Code, "sinks: a layer whose weight has another dtype is recorded") {
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  CHECK(!sinks.contract_of(at(18)));
  const Operator* linear = find_operator("linear");
  REQUIRE(linear);
  const std::vector<Input> same = {{"input", tensor(Dtype::kFloat32).alternatives(), 1},
                                   {"weight", tensor(Dtype::kFloat32).alternatives(), 3}};
  sinks.record_operator(*activation, at(13), *linear, same, 1, state);
  CHECK(sinks.records().empty());
  const std::vector<Input> mixed = {{"input", tensor(Dtype::kFloat32).alternatives(), 1},
                                    {"weight", tensor(Dtype::kBFloat16).alternatives(), 3}};
  sinks.record_operator(*activation, at(13), *linear, mixed, 1, state);
  CHECK(effects.sinks.all(names.symbols, [](const SinkRecord&) { return std::nullopt; }).size() == 1);
}

namespace {
struct Operations : Code {
  Registrations registrations{program.functions, root, names, memory};
  Conversions conversions{program, root, names, effects, memory};
  Ranks ranks{names, made, rounds, memory};
  Sinks sinks{subject, names, effects, questions, rounds, memory};
  Operators operators{subject, names, effects, rounds, memory, ranks};
  Dictionaries dictionaries{names, questions};
};
}  // namespace

TEST_CASE_METHOD(Operations, "operators: the table says what a sum of two dtypes is") {
  const Operator* add = find_operator("add");
  REQUIRE(add);
  const Value out =
      operators.apply(*activation, at(4), *add, operators.operands(at(4), *add, state), state);
  REQUIRE(out.single());
  CHECK(out.single()->dtype == Dtype::kFloat32);
  CHECK(!operators.cannot_store(*activation, at(4), state));
}

TEST_CASE_METHOD(Operations, "scalars: a comparison of known numbers is known") {
  Scalars scalars{options.device, names, effects, questions, memory, ranks};
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

TEST_CASE_METHOD(Operations, "dynamic operators: an index takes what stands there, and x += y may be x + y") {
  DynamicOperators dynamic{names, memory, ranks, dictionaries, conversions, registrations, runs};
  Objects objects{program.functions, names, made, questions, rounds, memory};
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
  LibraryModules modules{subject, root, names, questions, rounds, memory, sinks, operators, runs};
  Objects objects{program.functions, names, made, questions, rounds, memory};
  give(12, objects.library_module(*activation, at(12), state));
  const auto out = modules.library_forward(*activation, at(13), state);
  REQUIRE(out);
  CHECK(out->begin()->dtype == Dtype::kFloat32);
  CHECK(!modules.library_forward(*activation, at(4), state));
}

namespace {
struct Rooted : Operations {
  MadeHalf made_half{subject, work, names, effects, conversions, runs};
  Inputs inputs{subject, root, names, effects, made, memory, made_half, runs};
  Value layer(Dtype dtype, bool stated) {
    const Value handle = memory.shared_tensor(names.ids.object(3, &module, 1), HeapObject::Kind::kTensor,
                                              tensor(dtype), state, stated);
    const Value out = of_type("Layer");
    state.change(out.single()->object).registered = {{Registration::Kind::kParameter, "weight", handle}};
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

TEST_CASE_METHOD(Rooted, "escapes: a function that nobody sees may do anything to a list") {
  Escapes escapes{subject, root, names, effects, made, questions, memory, sinks, inputs, runs};
  Objects objects{program.functions, names, made, questions, rounds, memory};
  give(8, objects.pack(*activation, at(8), state));
  const Value given = escapes.unknown_call(*activation, at(18), state);
  CHECK(given.begin()->kind == Kind::kUnknown);
  CHECK(memory.elements(state, value(state, 8)).front().begin()->kind == Kind::kUnknown);
}

TEST_CASE_METHOD(Rooted, "calls: the callee runs with its arguments, defaults among them") {
  LibraryModules modules{subject, root, names, questions, rounds, memory, sinks, operators, runs};
  Escapes escapes{subject, root, names, effects, made, questions, memory, sinks, inputs, runs};
  Calls calls{subject, root,    names,   effects, questions,    memory, registrations,
              inputs,  escapes, modules, dictionaries, runs};
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
  Roots roots{subject, root, names, effects, made, made_half, inputs, others, runs};
  roots.evaluate_root(find("layer_run"), {}, OtherCode::kTrusted);
  REQUIRE(runs.called == std::vector<std::uint32_t>{find("layer_made"), find("layer_run")});
  REQUIRE(runs.handed.size() == 2);
  CHECK(runs.handed[0].begin()->kind == Kind::kObject);
  CHECK(runs.handed[1].begin()->assumed);
}

}  // namespace dtype_guard::flow
