#include "tests/oracle/generate.h"

#include <algorithm>

#include "tests/oracle/classes.h"
#include "tests/oracle/library_statements.h"
#include "tests/oracle/receivers.h"
#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::FunctionKind;
using flow::Op;
using flow::ParameterKind;
using flow::ValueId;

struct Offered {
  ParameterKind kind;
  const char* type;
  Type as;
};
constexpr Offered kParameters[] = {
    {ParameterKind::kTensor, "", Type::kTensor},     {ParameterKind::kTensor, "", Type::kTensor},
    {ParameterKind::kNumber, "bool", Type::kBool},   {ParameterKind::kNumber, "bool", Type::kBool},
    {ParameterKind::kNumber, "int", Type::kInteger}, {ParameterKind::kOptionalTensor, "", Type::kOptional},
    {ParameterKind::kTensorList, "", Type::kList},   {ParameterKind::kDtype, "", Type::kDtype}};

void take_parameters(Writer& writer) {
  flow::Function& function = writer.function();
  const bool itself = function.kind == FunctionKind::kLambda || function.kind == FunctionKind::kMethod;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const flow::Parameter& each = function.parameters[i];
    const auto as = std::find_if(std::begin(kParameters), std::end(kParameters), [&](const Offered& one) {
      return one.kind == each.kind && one.type == each.type;
    });
    const ValueId input = writer.value(each.by_reference ? Type::kReference : as->as, Op::kParam);
    writer.last().constant = static_cast<std::int64_t>(i + itself);
    // Of most inputs a check says how many dimensions they have: else few programs would have few runs.
    const bool of_root = function.external && as->as == Type::kTensor;
    if (!of_root || writer.random().one_in(3)) continue;
    const std::size_t scope = writer.scope();
    const ValueId dimensions = writer.value(Type::kInteger, Op::kOperator, "dim", {{"", input}});
    const ValueId two = writer.constant(std::int64_t{2});
    writer.add(Op::kAssume, {},
               {{"", writer.value(Type::kBool, Op::kOperator, "eq", {{"", dimensions}, {"", two}})}});
    writer.leave(scope);
  }
}

// A function that the root may call: one or two tensors and a flag, and it gives a tensor back.
void add_callee(flow::Module& module, Random& random, int& line, const Recipe& recipe, bool is_lambda,
                OpenAtoms& atoms) {
  flow::Function& callee = module.functions.emplace_back();
  callee.name = callee.key = (is_lambda ? "lambda" : "callee") + std::to_string(module.functions.size());
  callee.kind = is_lambda ? FunctionKind::kLambda : FunctionKind::kFunction;
  callee.external = false;
  callee.foreign = true;  // what it is handed is what its callers hand it, and no guess
  callee.range = {0, ++line, 1, line, 2};
  callee.parameters.push_back({"x", ParameterKind::kTensor, "", random.one_in(4) && !is_lambda});
  if (random.one_in(2)) callee.parameters.push_back({"flag", ParameterKind::kNumber, "bool", false});
  Writer writer(callee, random, line);
  take_parameters(writer);
  Program program(module, writer, {recipe.shape, 0, 1}, {}, atoms);
  if (is_lambda) {
    const ValueId self = writer.constant(std::int64_t{0});
    writer.last().op = Op::kParam;
    writer.load(Type::kTensor, field_of(self, "captured"));
  }
  program.begin();
  program.statements(1 + static_cast<int>(random.below(3)), 1);
  const ValueId given = program.tensor();
  writer.add(Op::kReturn, {}, {{"", given}});
}

// The class that the root is a method of.
constexpr const char* kModel = "Model";
bool add_model(flow::Module& module, Random& random, int& line) {
  const bool has_part = random.one_in(2);
  const std::string part = has_part ? "Part" : "";
  if (has_part) module.functions.push_back(constructor_of(part, "", random, line));
  module.functions.push_back(constructor_of(kModel, part, random, line));
  for (const char* name : {kModel, "Part"}) {
    flow::ClassFacts& facts = module.classes.emplace_back();
    facts.name = name;
  }
  return has_part;
}
}  // namespace

Recipe recipe_of(std::uint64_t seed) {
  constexpr Shape kShapes[] = {Shape::kStraight, Shape::kBranching, Shape::kAnything, Shape::kAnything};
  Recipe out;
  out.shape = kShapes[seed % std::size(kShapes)];
  out.statements = 4 + static_cast<int>(seed / 4 % 10);
  constexpr std::uint64_t kOneInMethods = 5;  // and as many that promote
  out.is_method = seed % kOneInMethods == 0;
  out.promotes = seed % kOneInMethods == 2;
  return out;
}

Recipe fixable_recipe(std::uint64_t seed) {
  Recipe out;
  out.shape = seed % 3 == 0 ? Shape::kBranching : Shape::kStraight;
  out.statements = 2 + static_cast<int>(seed / 3 % 6);
  out.promotes = true;
  return out;
}

Recipe rare_recipe(std::uint64_t seed) {
  Recipe out = recipe_of(seed);
  out.is_rare = true;
  out.promotes = false;
  return out;
}

Recipe composed_recipe(std::uint64_t seed) {
  constexpr Shape kShapes[] = {Shape::kStraight, Shape::kBranching, Shape::kStraight, Shape::kAnything};
  Recipe out;
  out.shape = kShapes[seed / 64 % std::size(kShapes)];
  out.statements = 3 + static_cast<int>(seed / 256 % 6);
  out.is_method = out.is_composed = true;
  out.most_atoms = kAnyNumberOfAtoms;
  return out;
}

flow::Module generate(std::uint64_t seed, const Recipe& recipe) {
  Random random(seed * 0x9e3779b97f4a7c15U + 1);
  flow::Module module;
  module.files = {"f.cpp"};
  int line = 100;
  std::vector<Callee> callees;
  OpenAtoms atoms(recipe.most_atoms);
  for (std::size_t i = random.below(3); i > 0; --i) {
    const bool is_lambda = random.one_in(3);
    add_callee(module, random, line, recipe, is_lambda, atoms);
    const flow::Function& made = module.functions.back();
    callees.push_back(
        {made.key, is_lambda, made.parameters.front().by_reference, made.parameters.size() > 1});
  }
  const bool is_method = recipe.is_method;
  const bool is_plain = is_method && !recipe.is_composed && !recipe.is_rare;
  const bool has_part = is_plain && add_model(module, random, line);
  Members members;
  if (recipe.is_composed) members = add_composed_model(module, kModel, random, line);
  if (recipe.is_rare) add_receivers(module, random, line, recipe, atoms);
  if (recipe.is_rare && is_method) members = add_library_model(module, kModel, random, line);
  flow::Function root;
  root.name = root.key = "root";
  if (is_method) {
    root.kind = FunctionKind::kMethod;
    root.class_name = kModel;
    root.of_module = true;
  }
  root.range = {0, ++line, 1, line, 2};
  root.parameters = {{"q", ParameterKind::kTensor, "", false}, {"k", ParameterKind::kTensor, "", false}};
  for (std::size_t i = random.below(4); i > 0; --i) {
    const Offered& each = random.of(kParameters);
    const bool open = each.as == Type::kBool || each.as == Type::kOptional || each.as == Type::kInteger;
    if (open && (recipe.shape == Shape::kStraight || !atoms.take())) continue;
    root.parameters.push_back({"p" + std::to_string(i), each.kind, each.type, false});
  }
  Writer writer(root, random, line);
  take_parameters(writer);
  Program program(module, writer, recipe, std::move(callees), atoms);
  if (is_method) {
    const ValueId self = writer.value(Type::kState, Op::kParam);
    writer.last().constant = std::int64_t{0};
    program.has_members(self, has_part);
    if (!is_plain) program.has_members(self, members);
  }
  program.begin();
  program.statements(recipe.statements, 0);
  program.sink();
  writer.add(Op::kReturn);
  module.functions.push_back(std::move(root));
  return module;
}

flow::Module with_probes(const flow::Module& module) {
  flow::Module out = module;
  for (flow::Function& function : out.functions) {
    // With a result: without one it would speak of the call that follows.
    ValueId last = 0;
    for (const flow::Block& block : function.blocks) {
      for (const flow::Instruction& each : block.instructions) last = std::max(last, each.result);
    }
    for (flow::Block& block : function.blocks) {
      std::vector<flow::Instruction> all;
      for (flow::Instruction& each : block.instructions) {
        const ValueId result = each.result;
        const flow::SourceRange range = each.range;
        all.push_back(std::move(each));
        if (!result) continue;
        flow::Instruction& probe = all.emplace_back();
        probe.op = Op::kSink;
        probe.name = "probe";
        probe.result = ++last;
        probe.args = {{"q", result}};
        probe.range = {range.file, range.line, 5, range.line, 6};
      }
      block.instructions = std::move(all);
    }
  }
  return out;
}

}  // namespace dtype_guard::oracle
