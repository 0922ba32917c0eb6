#include "tests/oracle/mutations.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/flow/ir/mnemonics.h"
#include "rules/operators/operators.h"

namespace dtype_guard::oracle {
namespace {
using flow::Block;
using flow::BlockId;
using flow::Function;
using flow::Instruction;
using flow::Module;
using flow::Op;
using flow::Place;
using flow::ValueId;

// Names that the engine gives a meaning, and some that mean nothing.
constexpr const char* kNames[] = {"subscript",
                                  "store_element",
                                  "pointer_cast",
                                  "data_ptr",
                                  "descriptor_dtype",
                                  "assign_object",
                                  "copy_of",
                                  "dict_get",
                                  "dict_has",
                                  "dict_pop",
                                  "children",
                                  "modules",
                                  "parameters",
                                  "buffers",
                                  "module_dtype",
                                  "dtype_named",
                                  "default_dtype",
                                  "autocast_dtype",
                                  "autocast_enabled",
                                  "item",
                                  "numel",
                                  "size",
                                  "sizes",
                                  "shape",
                                  "length",
                                  "slice",
                                  "index",
                                  "any",
                                  "logical_and",
                                  "logical_or",
                                  "logical_not",
                                  "eq",
                                  "ne",
                                  "lt",
                                  "ge",
                                  "has_value",
                                  "defined",
                                  "strides",
                                  "make_pair",
                                  "emplace_back",
                                  "insert",
                                  "torch::nn::Linear",
                                  "torch::nn::Sequential",
                                  "dict",
                                  "number",
                                  "vector",
                                  "attribute",
                                  "parameter",
                                  "buffer",
                                  "module",
                                  "attribute::to",
                                  "attribute::forward",
                                  "attribute::__call__",
                                  "virtual::forward::root",
                                  "stub:mul",
                                  "stub:flash",
                                  "flash",
                                  "sdpa",
                                  "rotary",
                                  "nothing",
                                  "at::parallel_for",
                                  "text_order",
                                  "text_length",
                                  "smaller_of",
                                  "larger_of",
                                  "loop_entered",
                                  "more_elements",
                                  "may_throw",
                                  "A_forward",
                                  "A_constructor",
                                  "root",
                                  "Model",
                                  "Part",
                                  ""};
constexpr const char* kArguments[] = {"",      "dtype", "on",    "from",   "*",    "**",      "q",    "k",
                                      "dim",   "size",  "other", "input",  "self", "keepdim", "out",  "index",
                                      "shape", "each",  "flag",  "result", "x",    "cos",     "value"};
constexpr const char* kFields[] = {"dtype", "data", "dl_tensor", "weight", "table",
                                   "part",  "a",    "b",         "shape"};

std::string some_name(const Module& program, Random& random) {
  if (random.one_in(3)) return random.of(all_operators()).name;
  if (random.one_in(4)) return random.of(program.functions).key;
  return random.of(kNames);
}

flow::Constant some_constant(Random& random) {
  switch (random.below(7)) {
    case 0:
      return flow::Unknown{};
    case 1:
      return flow::None{};
    case 2:
      return random.one_in(2);
    case 3:
      return static_cast<std::int64_t>(random.below(5)) - 2;
    case 4:
      return std::string(random.of(kFields));
    case 5:
      return 1.5;
    default:
      return random.of(std::vector<Dtype>(all_dtypes().begin(), all_dtypes().end()));
  }
}

std::vector<ValueId> values_of(const Function& function) {
  std::vector<ValueId> out;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.result) out.push_back(each.result);
    }
  }
  return out;
}

Place some_place(const Function& function, const std::vector<ValueId>& values, Random& random) {
  Place out;
  if (random.one_in(2) || function.variables.empty()) {
    if (!values.empty()) out.base = random.of(values);
  } else {
    out.variable = static_cast<flow::VariableId>(random.below(function.variables.size()));
  }
  using Kind = Place::Step::Kind;
  constexpr Kind kKinds[] = {Kind::kField, Kind::kCell, Kind::kAnyCell, Kind::kNextCell};
  for (std::size_t i = random.below(3); i > 0; --i) {
    Place::Step step;
    step.kind = random.of(kKinds);
    if (step.kind == Kind::kField) step.field = random.of(kFields);
    if (step.kind == Kind::kCell) step.cell = static_cast<std::int64_t>(random.below(5)) - 1;
    out.path.push_back(std::move(step));
  }
  return out;
}

// An operation needs what its row says, whatever it had before.
void become(Instruction& each, Op op, const Function& function, ValueId fresh) {
  each.op = op;
  const std::size_t targets = op == Op::kBranch ? 2 : op == Op::kJump ? 1 : 0;
  each.targets.resize(targets, static_cast<BlockId>(function.blocks.size() - 1));
  if (op >= Op::kJump) each.result = 0;
  if (op < Op::kJump && !each.result) each.result = fresh;
}

void change_instruction(Module& program, Function& function, Random& random) {
  Block& block = random.of(function.blocks).instructions.empty()
                     ? function.blocks.front()
                     : function.blocks[random.below(function.blocks.size())];
  if (block.instructions.empty()) return;
  Instruction& each = block.instructions[random.below(block.instructions.size())];
  const std::vector<ValueId> values = values_of(function);
  const ValueId fresh = values.empty() ? 1 : *std::max_element(values.begin(), values.end()) + 1;
  switch (random.below(9)) {
    case 0:
      return become(each, static_cast<Op>(random.below(flow::kMnemonics.size())), function, fresh);
    case 1:
    case 2:
      if (!each.args.empty() && !values.empty())
        each.args[random.below(each.args.size())].value = random.of(values);
      return;
    case 3:
      if (!values.empty()) each.args.push_back({random.of(kArguments), random.of(values)});
      return;
    case 4:
      if (!each.args.empty()) each.args.pop_back();
      return;
    case 5:
      each.name = some_name(program, random);
      return;
    case 6:
      each.constant = some_constant(random);
      return;
    case 7:
      each.place = some_place(function, values, random);
      return;
    default:
      for (BlockId& target : each.targets)
        target = static_cast<BlockId>(random.below(function.blocks.size()));
  }
}

// The same instruction once more, with a result of its own, somewhere in the function.
void repeat_instruction(Function& function, Random& random) {
  const std::vector<ValueId> values = values_of(function);
  const Block& from = random.of(function.blocks);
  Block& to = function.blocks[random.below(function.blocks.size())];
  if (from.instructions.empty() || values.empty()) return;
  Instruction copy = random.of(from.instructions);
  if (copy.result) copy.result = *std::max_element(values.begin(), values.end()) + 1;
  const std::size_t at = random.below(to.instructions.size() + 1);
  to.instructions.insert(to.instructions.begin() + static_cast<std::ptrdiff_t>(at), std::move(copy));
}

void change_function(Module& program, Function& function, Random& random) {
  switch (random.below(9)) {
    case 0:
      function.kind = static_cast<flow::FunctionKind>(random.below(flow::kFunctionKinds.size()));
      return;
    case 1:
      function.class_name = random.one_in(2) ? "A" : random.of(kNames);
      return;
    case 2:
      function.of_module = !function.of_module;
      return;
    case 3:
      function.external = !function.external;
      return;
    case 4:
      function.is_main = !function.is_main;
      return;
    case 5:
      function.foreign = !function.foreign;
      return;
    case 6:
      function.key = random.of(program.functions).key;
      return;
    case 7:
      if (!function.parameters.empty()) function.parameters.pop_back();
      return;
    default:
      break;
  }
  flow::Parameter& added = function.parameters.emplace_back();
  added.name = random.of(kArguments);
  added.kind = static_cast<flow::ParameterKind>(random.below(flow::kParameterKinds.size()));
  added.type = random.one_in(2) ? "" : random.one_in(2) ? "A" : "float32";
  added.by_reference = random.one_in(3);
  added.rest = static_cast<flow::Rest>(random.below(3));
  if (random.one_in(3)) added.default_value = some_constant(random);
}

void change_class(Module& program, Random& random) {
  constexpr const char* kClasses[] = {"A", "B", "Model", "Part", "Holder", "?"};
  if (program.classes.empty() || random.one_in(3)) program.classes.emplace_back().name = random.of(kClasses);
  flow::ClassFacts& facts = program.classes[random.below(program.classes.size())];
  switch (random.below(5)) {
    case 0:
      facts.bases.push_back(random.of(kClasses));
      return;
    case 1:
      facts.fields.push_back({random.of(kFields), flow::ParameterKind::kObject, random.of(kClasses), false});
      return;
    case 2:
      facts.settable.push_back({random.of(kFields), flow::ParameterKind::kNumber, "bool", random.one_in(2)});
      return;
    case 3:
      facts.setters.push_back(random.of(program.functions).key);
      return;
    default:
      facts.local = !facts.local;
      facts.virtuals.push_back(random.of(program.functions).key);
      facts.owned.push_back(random.of(kFields));
      facts.placeholders.push_back(random.of(kFields));
  }
}
}  // namespace

void mutate(Module& program, Random& random) {
  for (std::size_t left = 1 + random.below(8); left > 0; --left) {
    Function& function = program.functions[random.below(program.functions.size())];
    switch (random.below(10)) {
      case 0:
        change_class(program, random);
        break;
      case 1:
        change_function(program, function, random);
        break;
      case 2:
        repeat_instruction(function, random);
        break;
      default:
        change_instruction(program, function, random);
    }
  }
}

}  // namespace dtype_guard::oracle
