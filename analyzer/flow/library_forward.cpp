// forward() of library modules: an operator on the input and the module's parameters, and Sequential, which
// hands what one of its modules gives to the next.
#include "analyzer/flow/engine.h"
#include "analyzer/flow/operator_rank.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::string_view kSequential = "torch::nn::Sequential";
constexpr int kMaxNestedModules = 8;

// Elementwise modules keep their input's rank; of the others it is known at most that there is a dimension.
Rank rank_of_forward(const Operator& op, const ModuleType& type, const std::vector<Alternative>& input) {
  if (op.rank == RankRule::kAtLeastOne) return Rank::at_least(1);
  const bool of_input = !type.arguments.empty() && type.arguments.front() == "$0";
  const bool same = op.rank == RankRule::kLikeFirst && of_input && !input.empty();
  Rank out = same && input.front().kind == Kind::kTensor ? input.front().rank : Rank{};
  for (const Alternative& each : input) out = join(out, each.kind == Kind::kTensor ? each.rank : Rank{});
  return same ? out : Rank{};
}
}  // namespace

std::optional<Value> Engine::library_forward(const Activation& activation, const Instruction& instruction,
                                             State& state) {
  std::vector<Value> given;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) given.push_back(argument(state, instruction, i));
  if (const ModuleType* type = find_module_type(instruction.name))
    return module_forward(activation, instruction, *type, given, state);
  const bool in_order = instruction.name.starts_with(kSequential) && given.size() == 2;
  if (!in_order) return std::nullopt;
  return forward_through(activation, instruction, given[0], given[1],
                         context(activation.context, &instruction), state, 0);
}

// Nothing where the module, or one in it, is not known.
std::optional<Value> Engine::forward_through(const Activation& activation, const Instruction& instruction,
                                             const Value& module, const Value& input, ContextId inner,
                                             State& state, int depth) {
  const Alternative* one = module.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (!object || depth > kMaxNestedModules) return std::nullopt;
  if (object->type == kSequential) {
    if (!object->rest.is_bottom()) return std::nullopt;
    std::vector<Value> elements;
    for (const auto& [key, cell] : object->cells) {
      if (key.kind == Key::Kind::kIndex) elements.push_back(cell);
    }
    std::optional<Value> passed = input;
    inner = context(inner, &index_);
    for (const Value& each : elements) {
      // A context of its own for each: one class may be there twice.
      inner = context(inner, &instruction);
      passed = forward_through(activation, instruction, each, *passed, inner, state, depth + 1);
      if (!passed) return std::nullopt;
    }
    return elements.empty() ? std::nullopt : passed;
  }
  if (const ModuleType* type = find_module_type(object->type))
    return module_forward(activation, instruction, *type, {module, input}, state);
  const std::vector<std::uint32_t> callees = index_.inherited(object->type, "forward", 1, unit_);
  if (callees.size() != 1) return std::nullopt;
  bool alive = true;
  Value result = call(callees.front(), {module, input}, state, inner, &activation, alive);
  return alive ? std::optional(std::move(result)) : std::nullopt;
}

Value Engine::module_forward(const Activation& activation, const Instruction& instruction,
                             const ModuleType& type, const std::vector<Value>& given, State& state) {
  const Operator* op = type.forward.empty() ? nullptr : find_operator(type.forward);
  if (!op) return given.size() > 1 ? given[1] : Value::unknown();
  const Alternative* module = given.empty() ? nullptr : given.front().single();
  const HeapObject* object = module && module->kind == Kind::kObject ? state.find(module->object) : nullptr;
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < type.arguments.size() && i < op->arguments.size(); ++i) {
    const std::string& source = type.arguments[i];
    if (source.empty()) continue;
    if (source[0] == '$') {
      const std::size_t position = 1 + static_cast<std::size_t>(source[1] - '0');  // behind the module
      const Value input = position < given.size() ? given[position] : Value::unknown();
      // A Sequential hands on what stands nowhere in the text.
      const bool written =
          instruction.args.size() > position && argument(state, instruction, position).same(input);
      inputs.push_back(
          {op->arguments[i], tensors(state, input), written ? instruction.args[position].value : 0});
      continue;
    }
    const auto cell = object ? object->cells.find(field(source)) : Cells::const_iterator();
    if (object && cell != object->cells.end()) {
      inputs.push_back({op->arguments[i], tensors(state, cell->second), 0});
    } else {
      // Nobody saw this module being made: the setting says what its parameters are.
      const Dtype dtype = type.norm ? setting_.norms : setting_.parameters;
      Alternative parameter = Alternative::tensor(dtype, Rank::at_least(1));
      parameter.assumed = true;
      inputs.push_back({op->arguments[i], {parameter}, 0});
    }
  }
  const Rank rank = rank_of_forward(*op, type, given.size() > 1 ? tensors(state, given[1]) : Alternatives{});
  return apply_at(rank, activation, instruction, *op, std::move(inputs), {}, false, state);
}

}  // namespace dtype_guard::flow
