#include "tests/oracle/lambdas.h"

#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {
namespace {
using flow::Function;
using flow::FunctionKind;
using flow::Op;
using flow::ParameterKind;
using flow::ValueId;

ValueId wide(Writer& writer) {
  const ValueId two = writer.constant(std::int64_t{2});
  const ValueId shape = writer.value(Type::kList, Op::kPack, {}, {{"", two}, {"", two}});
  return writer.value(Type::kTensor, Op::kOperator, "ones", {{"", shape}});
}

// As it is, in a dtype of its own, or beside something wider.
ValueId changed(Writer& writer, ValueId tensor) {
  constexpr Dtype kDtypes[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32};
  switch (writer.random().below(4)) {
    case 0:
      return writer.value(Type::kTensor, Op::kCast, {},
                          {{"", tensor}, {"", writer.constant(writer.random().of(kDtypes))}});
    case 1:
      return writer.value(Type::kTensor, Op::kOperator, "mul", {{"", tensor}, {"", wide(writer)}});
    default:
      return tensor;
  }
}

void call(Writer& writer, ValueId q, ValueId k, ValueId v) {
  const char* api = writer.random().one_in(3) ? "sdpa" : "flash";
  writer.value(Type::kTensor, Op::kSink, api, {{"q", q}, {"k", k}, {"v", v}});
}

Function begin(const char* name, FunctionKind kind, int& line) {
  Function out;
  out.name = out.key = name;
  out.kind = kind;
  ++line;
  out.range = {0, line, 1, line, 2};
  return out;
}

// It hands on what it captured, and what it is handed where that is a tensor.
Function lambda(bool takes_tensor, Random& random, int& line) {
  Function out = begin("lambda", FunctionKind::kLambda, line);
  out.external = false;
  if (takes_tensor) out.parameters.push_back({"x", ParameterKind::kTensor, "", false});
  Writer writer(out, random, line);
  const ValueId self = parameter(writer, 0);
  const ValueId captured = writer.load(Type::kTensor, field_of(self, kCaptured));
  const ValueId x = takes_tensor ? changed(writer, matrix(writer, 1)) : captured;
  call(writer, x, changed(writer, captured), random.one_in(2) ? x : captured);
  writer.add(Op::kReturn);
  return out;
}
}  // namespace

flow::Module with_escaping_lambda(std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15U + 5);
  int line = 100;
  flow::Module out;
  out.files = {"f.cpp"};
  out.functions.push_back(lambda(random.one_in(2), random, line));
  Function root = begin("root", FunctionKind::kFunction, line);
  root.parameters = {{"q", ParameterKind::kTensor, "", false}, {"k", ParameterKind::kTensor, "", false}};
  Writer writer(root, random, line);
  const ValueId q = matrix(writer, 0), k = matrix(writer, 1);
  const ValueId held = changed(writer, q);
  const ValueId closure =
      writer.value(Type::kState, Op::kClosure, out.functions.front().key, {{kCaptured, held}});
  switch (random.below(4)) {  // unused it went somewhere that a front end does not follow
    case 0:
      writer.store(field_of(writer.value(Type::kObject, Op::kObject, "Holder"), "body"), closure);
      break;
    case 1:
      writer.value(Type::kBool, Op::kCall, "any_bool", {{"", closure}});
      break;
    case 2:
      writer.value(Type::kBool, Op::kCall, "any_bool", {{"", closure}, {"", changed(writer, k)}});
      break;
    default:
      break;
  }
  if (random.one_in(2)) call(writer, q, k, held);
  writer.add(Op::kReturn);
  out.functions.push_back(std::move(root));
  return out;
}

}  // namespace dtype_guard::oracle
