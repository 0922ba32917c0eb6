// Statements of generated programs that are about storage, the thread's state and calls.
#include "tests/oracle/classes.h"
#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;
using StepKind = flow::Place::Step::Kind;
}  // namespace

// A descriptor of a tensor, which may state another dtype.
ValueId Program::descriptor() {
  const ValueId of = tensor();
  const ValueId out = writer_.value(Type::kState, Op::kObject, "DLTensor");
  writer_.store(field_of(out, "data"), of);
  const ValueId own = random_.one_in(2) ? writer_.value(Type::kDtype, Op::kDtypeOf, {}, {{"", of}}) : dtype();
  writer_.store(field_of(out, "dtype"), own);
  return out;
}

void Program::sink() {
  const ValueId q = random_.one_in(8) ? descriptor() : tensor(), k = random_.one_in(2) ? q : tensor();
  const ValueId v = random_.one_in(2) ? k : tensor();
  switch (random_.below(4)) {
    case 0:
      writer_.value(Type::kState, Op::kSink, "rotary", {{"x", q}, {"cos", k}, {"sin", k}});
      break;
    case 1:
      writer_.value(Type::kTensor, Op::kSink, "sdpa", {{"q", q}, {"k", k}, {"v", v}});
      break;
    default:
      writer_.value(Type::kTensor, Op::kSink, "flash", {{"q", q}, {"k", k}, {"v", v}});
  }
}

ValueId Program::list_of_tensors() {
  const ValueId there = writer_.some(Type::kList);
  if (there && !random_.one_in(3)) return there;
  const ValueId one = tensor(), other = tensor();
  return writer_.value(Type::kList, Op::kPack, {}, {{"", one}, {"", other}});
}

// What is kept in a list goes in and comes out, and may be changed through another name of the list.
void Program::list() {
  ValueId all = list_of_tensors();
  const bool straight = recipe_.shape == Shape::kStraight;
  const ValueId original = all;
  const bool is_copy = random_.one_in(4);
  if (is_copy) all = writer_.value(Type::kList, Op::kOperator, "copy_of", {{"", all}});
  if (is_copy || random_.one_in(3))
    writer_.store(cell_of(all, StepKind::kCell, static_cast<std::int64_t>(random_.below(2))), tensor());
  if (random_.one_in(4)) writer_.store(cell_of(all, StepKind::kNextCell), tensor());
  if (random_.one_in(6) && !straight) writer_.store(cell_of(all, StepKind::kAnyCell), tensor());
  if (is_copy && random_.one_in(2)) all = original;
  const bool any = random_.one_in(4) && !straight;
  writer_.load(Type::kTensor,
               any ? cell_of(all, StepKind::kAnyCell)
                   : cell_of(all, StepKind::kCell, static_cast<std::int64_t>(random_.below(2))));
}

ValueId Program::holder() {
  const ValueId there = writer_.some(Type::kObject);
  if (there && !random_.one_in(3)) return there;
  const ValueId it = writer_.value(Type::kObject, Op::kObject, "Holder");
  writer_.store(field_of(it, "a"), tensor());
  writer_.store(field_of(it, "b"), tensor());
  return it;
}

void Program::object() {
  ValueId it = holder();
  if (random_.one_in(5)) it = writer_.value(Type::kObject, Op::kOperator, "copy_of", {{"", it}});
  if (random_.one_in(2)) writer_.store(field_of(it, random_.one_in(2) ? "a" : "b"), tensor());
  writer_.load(Type::kTensor, field_of(it, random_.one_in(2) ? "a" : "b"));
}

void Program::reference() {
  ValueId it = writer_.some(Type::kReference);
  if (!it || random_.one_in(2)) {
    const auto [type, variable] = writer_.variables[random_.below(2)];
    it = writer_.address(place_of(variable));
  }
  flow::Place behind;
  behind.base = it;
  if (random_.one_in(2)) writer_.store(behind, tensor());
  writer_.load(Type::kTensor, behind);
}

void Program::buffer() {
  const ValueId like = writer_.constant(random_.one_in(2) ? Dtype::kFloat32 : Dtype::kBFloat16);
  const ValueId it = writer_.value(Type::kTensor, Op::kAlloc, "vector", {{"dtype", like}});
  if (random_.one_in(2)) writer_.add(Op::kWrite, {}, {{"", it}, {"", tensor()}});
}

void Program::in_place() {
  const ValueId target = tensor(), other = tensor();
  constexpr const char* kNames[] = {"add_", "mul_", "copy_", "sub_"};
  writer_.value(Type::kTensor, Op::kOperator, random_.of(kNames), {{"", target}, {"", other}});
}

// Switched for some statements, and then back to what it was, or not.
void Program::autocast(int depth) {
  const bool back = !random_.one_in(3);
  const ValueId saved = back ? writer_.value(Type::kState, Op::kSaveState) : 0;
  const bool open = recipe_.shape != Shape::kStraight && random_.one_in(4);
  const ValueId on = open ? condition() : writer_.constant(!random_.one_in(3));
  Args args = {{"on", on}};
  if (random_.one_in(2))
    args.push_back({"dtype", writer_.constant(random_.one_in(2) ? Dtype::kFloat16 : Dtype::kBFloat16)});
  writer_.add(Op::kSetAutocast, random_.one_in(6) ? "cpu" : "cuda", std::move(args));
  statements(1 + static_cast<int>(random_.below(3)), depth + 1);
  if (back) writer_.add(Op::kRestoreState, {}, {{"", saved}});
}

void Program::default_dtype() {
  constexpr Dtype kDefaults[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat64, Dtype::kFloat32};
  writer_.add(Op::kSetDefaultDtype, {}, {{"", writer_.constant(random_.of(kDefaults))}});
}

void Program::check() { writer_.add(Op::kAssume, {}, {{"", condition()}}); }

// A tensor that a module owns, which converting the module converts.
void Program::module_object() {
  const ValueId it = writer_.value(Type::kObject, Op::kObject, "Holder");
  const ValueId made = factory();
  const ValueId handle = writer_.value(Type::kTensor, Op::kRegister,
                                       random_.one_in(2) ? "parameter" : "buffer", {{"", it}, {"", made}});
  writer_.last().constant = std::string("a");
  writer_.store(field_of(it, "a"), handle);
  writer_.store(field_of(it, "b"), factory());
  if (random_.one_in(2)) writer_.add(Op::kRetype, {}, {{"", it}, {"", dtype()}});
  writer_.load(Type::kTensor, field_of(it, "a"));
}

// What the object holds: read, replaced, or converted with the whole of it.
void Program::member() {
  if (!members_.layers.empty() && random_.one_in(2)) return library();
  if (!members_.tensors.empty()) return member_of_parts();
  if (!members_.layers.empty()) return library();
  flow::Place place = field_of(self_, random_.of(kMembers));
  if (has_part_ && random_.one_in(3)) place.path.insert(place.path.begin(), {StepKind::kField, kPart, 0});
  if (random_.one_in(8)) writer_.add(Op::kRetype, {}, {{"", self_}, {"", dtype()}});
  if (random_.one_in(6)) writer_.store(place, tensor());
  writer_.load(Type::kTensor, place);
}

void Program::member_of_parts() {
  const auto place = [&](const MemberPath& path) {
    flow::Place out;
    out.base = self_;
    for (const std::string& field : path) out.path.push_back({StepKind::kField, field, 0});
    return out;
  };
  if (!members_.parts.empty() && random_.one_in(10)) {
    const ValueId part = writer_.load(Type::kObject, place(random_.of(members_.parts)));
    writer_.add(Op::kRetype, {}, {{"", random_.one_in(3) ? self_ : part}, {"", dtype()}});
  }
  const flow::Place held = place(random_.of(members_.tensors));
  if (random_.one_in(8)) writer_.store(held, tensor());
  const ValueId out = writer_.load(Type::kTensor, held);
  if (!random_.one_in(3)) return;
  const ValueId beside = tensor();
  writer_.value(Type::kTensor, Op::kOperator, "mul", {{"", beside}, {"", out}});
}

// Code that is not there may change what it is given by reference.
void Program::call_unknown() {
  Args args = {{"", tensor()}};
  for (const Type type : {Type::kReference, Type::kList, Type::kObject}) {
    const ValueId there = writer_.some(type);
    if (there && random_.one_in(4)) args.push_back({"", there});
  }
  if (random_.one_in(4)) {
    writer_.value(Type::kDtype, Op::kCall, "any_dtype", std::move(args));
  } else {
    writer_.value(Type::kTensor, Op::kCall, "any_tensor", std::move(args));
  }
}

}  // namespace dtype_guard::oracle
