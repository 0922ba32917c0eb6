// Each part of the engine on its own, as far as it knows places and dtypes: built with the parts that stand
// before it, and without the engine.
#include "tests/unit/flow/parts.h"

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/engine/dtype_state.h"
#include "analyzer/flow/engine/memory/conversions.h"
#include "analyzer/flow/engine/memory/objects.h"
#include "analyzer/flow/engine/memory/registration.h"
#include "analyzer/flow/engine/operations/casts.h"
#include "analyzer/flow/engine/operations/marks.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}

TEST_CASE_METHOD(CodeState, "questions: what is asked twice is one question") {
  Questions questions{names};
  const SymbolSetId asked = questions.asked(*activation, at(5), state);
  CHECK(asked != 0);
  CHECK(questions.asked(*activation, at(5), state) == asked);
  CHECK(questions.asked(*activation, at(17), state) != asked);
}

TEST_CASE_METHOD(CodeState, "rounds: what an object of all rounds holds has no rank of one round") {
  Rounds rounds{names};
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
  Sightings sightings;
  Objects objects{program.functions, names, sightings, questions, rounds, memory};
  give(8, objects.pack(*activation, at(8), state));
  const Value copy = objects.copy_of(*activation, at(9), state);
  REQUIRE(copy.single());
  CHECK(copy.single()->object != argument(state, at(9), 0).single()->object);
  CHECK(memory.elements(state, copy).size() == 2);
}

TEST_CASE_METHOD(Code,
                 "registrations: a module owns what it registers, and its callers' value is a handle of it") {
  Registrations registrations{program, root, names, memory};
  CHECK(registrations.is_module_type("torch::nn::Linear"));
  CHECK(!registrations.is_module_type("Other"));
  give(19, of_type("Layer"));
  const Value weight = registrations.registration(*activation, at(20), state);
  REQUIRE(weight.single());
  CHECK(weight.single()->kind == Kind::kHandle);
  const auto& registered = state.find(value(state, 19).single()->object)->registered;
  REQUIRE(registered.size() == 1);
  CHECK(registered.begin()->name == "weight");
  CHECK(registered.begin()->value == weight);
}

TEST_CASE_METHOD(Code, "conversions: a parameter has the dtype that its module is given") {
  Effects effects;
  Conversions conversions{program, root, names, effects, memory};
  give(19, of_type("Layer"));
  const Value weight = memory.shared_tensor(names.ids.object(2, &conversions), HeapObject::Kind::kTensor,
                                            tensor(Dtype::kFloat32), state);
  state.change(value(state, 19).single()->object).registered.change() = {
      {Registration::Kind::kParameter, "weight", weight}};
  conversions.retype(*activation, with(Op::kRetype), state);
  REQUIRE(memory.tensors(state, weight).size() == 1);
  CHECK(memory.tensors(state, weight).front().dtype == Dtype::kBFloat16);
  CHECK(effects.converted_to_half());
  CHECK(!conversions.was_assumed(weight.single()->object));
}

TEST_CASE_METHOD(Code, "registrations: what a callee did to a tensor its caller sees") {
  Registrations registrations{program, root, names, memory};
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
  Ranks ranks{names, root, rounds, memory};
  Alternative x = Alternative::tensor(Dtype::kFloat32, Rank{});
  x.rank = ranks.own_rank(*activation, at(1), x.rank);
  CHECK(x.rank.symbol != 0);
  give(1, Value(x));
  give(5, Value(ranks.dimensions_asked(*activation, "dim", at(5), state)));
  give(6, Value(Alternative::integer(3)));
  CHECK(refine_count(state, at(7), true));
  CHECK(memory.tensors(state, value(state, 1)).front().rank.is_exact());
  give(6, Value(Alternative::integer(4)));
  CHECK(!refine_count(state, at(7), true));
}

namespace {
struct Asking : Code {
  Effects effects;
  // What `first` gives where it asks for the dtype of its input.
  Alternative asked(Dtype dtype, bool assumed = false) const {
    Alternative out = Alternative::a_dtype(dtype);
    out.assumed = assumed;
    out.context = activation->context;
    out.source = 1;
    return out;
  }
};
}  // namespace

TEST_CASE_METHOD(Asking, "conditions: a check of a dtype leaves what has it") {
  Conditions conditions{program, names, effects, memory, runs};
  give(1,
       Value({Alternative::tensor(Dtype::kFloat32, Rank{}), Alternative::tensor(Dtype::kBFloat16, Rank{})}));
  give(10, Value({asked(Dtype::kFloat32), asked(Dtype::kBFloat16)}));
  give(11, Value(Alternative::boolean(std::nullopt)));
  State other = state;
  CHECK(conditions.refine(*activation, state, 11, true));
  CHECK(value(state, 1) == tensor(Dtype::kBFloat16));
  CHECK(conditions.refine(*activation, other, 11, false));
  CHECK(value(other, 1) == tensor(Dtype::kFloat32));
}

TEST_CASE_METHOD(Asking, "conditions: a check says what an input is") {
  Conditions conditions{program, names, effects, memory, runs};
  Alternative input = Alternative::tensor(Dtype::kFloat16, Rank{});
  input.assumed = true;
  give(1, effects.as_input(Value(input)));
  give(2, Value(Alternative::a_dtype(Dtype::kInt32)));
  give(10, Value(asked(Dtype::kFloat16, true)));
  give(11, Value(Alternative::boolean(false)));
  CHECK(conditions.state_by_check(*activation, state, 11, true));
  CHECK(value(state, 1).begin()->dtype == Dtype::kInt32);
  CHECK(!value(state, 1).begin()->assumed);
}

TEST_CASE_METHOD(CodeState, "dtype state: what was saved comes back") {
  Effects effects;
  DtypeState dtypes{options.device, effects};
  const Value saved = dtypes.save_state(state);
  give(7, Value(Alternative::boolean(true)));
  dtypes.set_autocast(with(Op::kSetAutocast), state);
  CHECK(state.autocast.may_be_on);
  CHECK(!state.autocast.may_be_off);
  CHECK(effects.tells_half_types_apart());
  Instruction restore;
  restore.args.push_back({"", 7});
  give(7, saved);
  dtypes.restore_state(restore, state);
  CHECK(!state.autocast.may_be_on);
}

TEST_CASE_METHOD(Code, "casts: the dtype of a tensor is known by the tensor that was asked") {
  Casts casts{names, memory};
  const Value dtype = casts.dtype_of(*activation, at(10), state);
  REQUIRE(dtype.single());
  CHECK(dtype.single()->dtype == Dtype::kFloat32);
  CHECK(dtype.single()->source == 1);
  CHECK(dtype.single()->context == activation->context);
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

}  // namespace dtype_guard::flow
