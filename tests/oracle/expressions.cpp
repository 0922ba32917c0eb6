// Values of generated programs: operators, conversions, conditions.
#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;

constexpr Dtype kDtypes[] = {Dtype::kFloat32, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16,
                             Dtype::kFloat16, Dtype::kFloat64, Dtype::kInt64};

// How an operator is called: T tensor, N number, I a dimension, S a shape, D a dtype, L a list of tensors,
// M a mask.
struct Form {
  const char* name;
  const char* arguments;
};
constexpr Form kForms[] = {
    {"mul", "TT"},        {"mul", "TT"},    {"add", "TT"},          {"add", "TN"},       {"mul", "TN"},
    {"sub", "TT"},        {"div", "TT"},    {"div", "TN"},          {"pow", "TN"},       {"exp", "T"},
    {"neg", "T"},         {"rsqrt", "T"},   {"sigmoid", "T"},       {"relu", "T"},       {"cos", "T"},
    {"softmax", "TI"},    {"sum", "TI"},    {"sum", "T"},           {"mean", "TI"},      {"argmax", "T"},
    {"cumsum", "TI"},     {"matmul", "TT"}, {"linear", "TT"},       {"bmm", "TT"},       {"where", "MTT"},
    {"cat", "LI"},        {"stack", "LI"},  {"select", "TII"},      {"unsqueeze", "TI"}, {"contiguous", "T"},
    {"transpose", "TII"}, {"view", "TS"},   {"to", "TD"},           {"to", "TD"},        {"type_as", "TT"},
    {"half", "T"},        {"float", "T"},   {"bfloat16", "T"},      {"zeros_like", "T"}, {"normalize", "T"},
    {"maximum", "TT"},    {"clone", "T"},   {"masked_fill", "TMN"}, {"gelu", "T"},       {"silu", "T"},
    {"log", "T"},         {"abs", "T"},     {"atan2", "TT"},        {"lerp", "TTN"},     {"fmod", "TT"}};
constexpr Form kFactories[] = {
    {"ones", "S"}, {"zeros", "SD"}, {"randn", "SD"}, {"full", "SN"}, {"arange", "N"}};
}  // namespace

ValueId Program::tensor() {
  if (const ValueId there = writer_.some(Type::kTensor); there && !random_.one_in(12)) return there;
  return factory();
}

ValueId Program::shape() {
  Writer::Args sizes;
  const ValueId two = writer_.constant(std::int64_t{2});
  for (std::size_t i = random_.one_in(5) ? 0 : 1 + random_.below(3); i > 0; --i) sizes.push_back({"", two});
  return writer_.value(Type::kState, Op::kPack, {}, std::move(sizes));
}

ValueId Program::dtype() {
  if (const ValueId there = writer_.some(Type::kDtype); there && random_.one_in(3)) return there;
  if (random_.one_in(3)) return writer_.value(Type::kDtype, Op::kDtypeOf, {}, {{"", tensor()}});
  if (random_.one_in(12)) return writer_.value(Type::kDtype, Op::kOperator, "default_dtype");
  const ValueId out = writer_.constant(random_.of(kDtypes));
  if (random_.one_in(4)) return writer_.value(Type::kDtype, Op::kOptions, {}, {{"dtype", out}});
  return out;
}

ValueId Program::factory() {
  const Form& form = random_.of(kFactories);
  Writer::Args args;
  for (const char* each = form.arguments; *each; ++each) {
    const ValueId value = *each == 'S'        ? shape()
                          : *each == 'D'      ? dtype()
                          : random_.one_in(2) ? writer_.constant(1.5)
                                              : writer_.constant(std::int64_t{3});
    args.push_back({*each == 'D' ? "dtype" : "", value});
  }
  return writer_.value(Type::kTensor, Op::kOperator, form.name, std::move(args));
}

ValueId Program::operation() {
  if (random_.one_in(7)) return factory();
  const Form& form = random_.of(kForms);
  constexpr std::int64_t kDimensions[] = {0, -1, 1, 0, -1};
  Writer::Args args;
  for (const char* each = form.arguments; *each; ++each) {
    ValueId value = 0;
    std::string name;
    if (*each == 'T') value = tensor();
    if (*each == 'N') value = random_.one_in(2) ? writer_.constant(2.0) : writer_.constant(std::int64_t{2});
    if (*each == 'S') value = shape();
    if (*each == 'D') value = dtype(), name = "dtype";
    if (*each == 'L') {
      const ValueId one = tensor(), other = random_.one_in(2) ? one : tensor();
      value = writer_.value(Type::kState, Op::kPack, {}, {{"", one}, {"", other}});
    }
    if (*each == 'M') {
      const ValueId zero = writer_.constant(std::int64_t{0});
      const ValueId mask = tensor();
      value = writer_.value(Type::kTensor, Op::kOperator, "lt", {{"", mask}, {"", zero}});
    }
    if (*each == 'I') {
      value = writer_.constant(random_.of(kDimensions));
      const bool second = std::string_view(form.arguments) == "TII";
      name = second ? "" : "dim";
    }
    args.push_back({std::move(name), value});
  }
  return writer_.value(Type::kTensor, Op::kOperator, form.name, std::move(args));
}

ValueId Program::converted() {
  const ValueId like = dtype(), from = tensor();
  const ValueId out = writer_.value(Type::kTensor, Op::kCast, {}, {{"", from}, {"", like}});
  return out;
}

// One question that a run decides.
ValueId Program::atom() {
  const bool straight = recipe_.shape == Shape::kStraight;
  if (straight) return writer_.constant(random_.one_in(2));
  const ValueId flag = writer_.some(Type::kBool);
  switch (random_.below(8)) {
    case 0: {
      if (const ValueId number = writer_.some(Type::kInteger)) {
        const ValueId limit = writer_.constant(static_cast<std::int64_t>(random_.below(3)));
        constexpr const char* kComparisons[] = {"eq", "ne", "lt", "ge"};
        return writer_.value(Type::kBool, Op::kOperator, random_.of(kComparisons),
                             {{"", number}, {"", limit}});
      }
      break;
    }
    case 1:
      if (const ValueId optional = writer_.some(Type::kOptional))
        return writer_.value(Type::kBool, Op::kOperator, "defined", {{"", optional}});
      break;
    case 2: {
      if (!atoms_.take()) break;
      const ValueId of = tensor();
      const ValueId dimensions = writer_.value(Type::kInteger, Op::kOperator, "dim", {{"", of}});
      const ValueId limit = writer_.constant(static_cast<std::int64_t>(random_.below(4)));
      return writer_.value(Type::kBool, Op::kOperator, random_.one_in(2) ? "eq" : "gt",
                           {{"", dimensions}, {"", limit}});
    }
    case 3:
      if (recipe_.shape == Shape::kAnything && atoms_.take())
        return writer_.value(Type::kBool, Op::kCall, "any_bool");
      break;
    case 4: {
      if (!atoms_.take()) break;
      const ValueId of = tensor(), zero = writer_.constant(std::int64_t{0});
      const ValueId size = writer_.value(Type::kInteger, Op::kOperator, "size", {{"", of}, {"", zero}});
      return writer_.value(Type::kBool, Op::kOperator, "eq",
                           {{"", size}, {"", writer_.constant(std::int64_t{1})}});
    }
    default:
      break;
  }
  if (flag) return flag;
  const ValueId like = dtype();
  const ValueId of = tensor();
  const ValueId mine = writer_.value(Type::kDtype, Op::kDtypeOf, {}, {{"", of}});
  return writer_.value(Type::kBool, Op::kOperator, random_.one_in(2) ? "eq" : "ne", {{"", mine}, {"", like}});
}

ValueId Program::condition(int depth) {
  constexpr int kMostNested = 2;
  if (recipe_.is_rare && random_.one_in(4)) return number_question();
  const auto logic = [&](const char* name, Writer::Args args) {
    return writer_.value(Type::kBool, Op::kOperator, name, std::move(args));
  };
  switch (depth > kMostNested ? 9 : random_.below(10)) {
    case 0:
    case 1:
      return logic("logical_not", {{"", condition(depth + 1)}});
    case 2: {
      const ValueId a = condition(depth + 1), b = condition(depth + 1);
      return logic(random_.one_in(2) ? "logical_and" : "logical_or", {{"", a}, {"", b}});
    }
    case 3:
    case 4: {
      const ValueId of = tensor(), like = dtype();
      const ValueId mine = writer_.value(Type::kDtype, Op::kDtypeOf, {}, {{"", of}});
      return logic(random_.one_in(2) ? "eq" : "ne", {{"", mine}, {"", like}});
    }
    case 5:
      return logic("is_floating_point", {{"", tensor()}});
    default:
      return atom();
  }
}

}  // namespace dtype_guard::oracle
