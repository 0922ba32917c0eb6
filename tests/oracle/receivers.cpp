#include "tests/oracle/receivers.h"

#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Function;
using flow::FunctionKind;
using flow::Op;
using flow::ParameterKind;
using flow::ValueId;

Function begin(const std::string& class_name, const std::string& name, int& line) {
  Function out;
  out.name = class_name.empty() ? name : class_name + "::" + name;
  out.key = class_name.empty() ? name : class_name + "_" + name;
  out.class_name = class_name;
  out.kind = class_name.empty() ? FunctionKind::kFunction : FunctionKind::kMethod;
  out.external = false;
  out.foreign = true;  // what it is handed is what its callers hand it, and no guess
  out.range = {0, ++line, 1, line, 2};
  out.parameters.push_back({"x", ParameterKind::kTensor, "", false});
  return out;
}

Recipe recipe_within(const Recipe& of) {
  Recipe out;
  out.shape = of.shape;
  out.most_depth = 1;
  return out;
}

// Its own tensor beside what it is handed, and what some statements make of both.
Function method(flow::Module& module, const std::string& class_name, const std::string& name, Random& random,
                int& line, const Recipe& recipe, OpenAtoms& atoms) {
  Function out = begin(class_name, name, line);
  const bool has_flag = name == kWithFlag;
  if (has_flag) {
    flow::Parameter& flag = out.parameters.emplace_back();
    flag.name = "flag";
    flag.kind = ParameterKind::kNumber;
    flag.type = "bool";
    flag.default_value = random.one_in(2);
  }
  Writer writer(out, random, line);
  parameter(writer, 1);
  const ValueId self = writer.value(Type::kState, Op::kParam);
  writer.last().constant = std::int64_t{0};
  if (has_flag) {
    writer.value(Type::kBool, Op::kParam);
    writer.last().constant = std::int64_t{2};
  }
  writer.load(Type::kTensor, field_of(self, kHeld));
  Program program(module, writer, recipe_within(recipe), {}, atoms);
  program.begin();
  program.statements(1 + static_cast<int>(random.below(2)), 1);
  if (random.one_in(4)) writer.store(field_of(self, kHeld), program.tensor());
  const ValueId given = program.tensor();
  writer.add(Op::kReturn, {}, {{"", given}});
  return out;
}

// gather(x, *more, **named): the first of the ones, or "a" of the others, where there is such a one.
Function gather(Random& random, int& line) {
  Function out = begin("", kGather, line);
  flow::Parameter& more = out.parameters.emplace_back();
  more.name = "more";
  more.kind = ParameterKind::kOther;
  more.rest = flow::Rest::kPositional;
  flow::Parameter& named = out.parameters.emplace_back();
  named.name = "named";
  named.kind = ParameterKind::kOther;
  named.rest = flow::Rest::kKeywords;
  Writer writer(out, random, line);
  const ValueId x = parameter(writer, 0), all = parameter(writer, 1), by_name = parameter(writer, 2);
  ValueId given = 0;
  if (random.one_in(2)) {
    const ValueId zero = writer.constant(std::int64_t{0});
    given = writer.value(Type::kTensor, Op::kOperator, "subscript", {{"self", all}, {"index", zero}});
  } else {
    const ValueId key = writer.constant(std::string(kHeld));
    given = writer.value(Type::kTensor, Op::kOperator, "dict_get",
                         {{"self", by_name}, {"index", key}, {"default", x}});
  }
  writer.add(Op::kReturn, {}, {{"", given}});
  return out;
}
}  // namespace

void add_receivers(flow::Module& module, Random& random, int& line, const Recipe& recipe, OpenAtoms& atoms) {
  for (const char* name : kReceivers) {
    const bool inherits = name == kReceivers[2];
    flow::ClassFacts& facts = module.classes.emplace_back();
    facts.name = name;
    if (inherits) facts.bases = {kReceivers[0]};
    for (const char* each : kMethods) {
      if (inherits && random.one_in(2)) continue;
      flow::Function made = method(module, name, each, random, line, recipe, atoms);
      module.functions.push_back(std::move(made));
    }
  }
  module.functions.push_back(gather(random, line));
}

}  // namespace dtype_guard::oracle
