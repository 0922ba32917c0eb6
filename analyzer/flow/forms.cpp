#include "analyzer/flow/forms.h"

#include <algorithm>
#include <string>

#include "analyzer/flow/function_info.h"

namespace dtype_guard::flow {
namespace {

const Argument* argument_of(const Instruction& instruction, std::string_view name, std::size_t position) {
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Argument& argument = instruction.args[i];
    if (argument.name == name || (argument.name.empty() && i == position)) return &argument;
  }
  return nullptr;
}

const Instruction* definition(const Argument& argument, const FunctionInfo& info) {
  const Instruction* made = info.definition(argument.value);
  while (made && made->op == Op::kCopy && !made->args.empty()) made = info.definition(made->args[0].value);
  return made;
}

// Whether an optional argument is there: one that is not stated to be none.
bool is_given(const Argument* argument, const FunctionInfo& info) {
  const Instruction* made = argument ? definition(*argument, info) : nullptr;
  return argument && !(made && std::holds_alternative<None>(made->constant));
}

// With a rounding mode integers stay integers; without one that can be read nothing is known.
const Operator* division(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* rounding = argument_of(instruction, "rounding_mode", 2);
  if (!is_given(rounding, info)) return &plain;
  const Instruction* mode = definition(*rounding, info);
  const bool rounds = mode && std::holds_alternative<std::string>(mode->constant);
  return rounds ? find_operator("div.rounded") : nullptr;
}

// What autocast casts: every mode but the mean of areas, and that only where the mode can be read.
const Operator* resized(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* mode = argument_of(instruction, "mode", 3);
  if (!is_given(mode, info)) return &plain;
  const Instruction* made = definition(*mode, info);
  const std::string* word = made ? std::get_if<std::string>(&made->constant) : nullptr;
  if (!word) return nullptr;
  return *word == "area" ? find_operator("interpolate.area") : &plain;
}

// What autocast on the CPU casts: reflected and repeated borders. A mode that cannot be read leaves the dtype
// as a constant border does.
const Operator* padded(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* mode = argument_of(instruction, "mode", 2);
  const Instruction* made = mode ? definition(*mode, info) : nullptr;
  const std::string* word = made ? std::get_if<std::string>(&made->constant) : nullptr;
  const Operator* form = word ? find_operator("pad." + *word) : nullptr;
  return form ? form : &plain;
}

// Of one operand: what is summed gets sum's dtype, what is exchanged keeps its own.
const Operator* contracted(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Einsum kind = einsum_kind(instruction, info);
  if (kind == Einsum::kUnknown) return &plain;
  const Instruction* first = info.definition(instruction.args.front().value);
  const bool one = std::get<std::string>(first->constant).find(',') == std::string::npos;
  if (one) return find_operator(kind == Einsum::kSums ? "einsum.sum" : "einsum.permute");
  return kind == Einsum::kMultiplies ? find_operator("einsum.mul") : &plain;
}

// Indices are int64, and int32 where the flag says so; a flag that cannot be read says nothing.
const Operator* search(const Operator& wide, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* flag = argument_of(instruction, "out_int32", 2);
  if (!flag) return &wide;
  const Instruction* made = definition(*flag, info);
  const bool* narrow = made ? std::get_if<bool>(&made->constant) : nullptr;
  if (!narrow) return nullptr;
  return *narrow ? find_operator(wide.name + ".int32") : &wide;
}

// bincount adds weights up in float32 or float64 by rules of its own, cov multiplies with its own.
const Operator* weighted(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* weights =
      plain.name == "cov" ? argument_of(instruction, "aweights", 3) : argument_of(instruction, "weights", 1);
  return is_given(weights, info) ? nullptr : &plain;
}

// What is put before or behind is joined to it first, and that promotes in their order.
const Operator* differences(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const bool joined = is_given(argument_of(instruction, "prepend", 3), info) ||
                      is_given(argument_of(instruction, "append", 4), info);
  return joined ? nullptr : &plain;
}

}  // namespace

Einsum einsum_kind(const Instruction& instruction, const FunctionInfo& info) {
  if (instruction.args.empty()) return Einsum::kUnknown;
  const Instruction* first = info.definition(instruction.args.front().value);
  const auto* equation = first ? std::get_if<std::string>(&first->constant) : nullptr;
  const std::size_t arrow = equation ? equation->find("->") : std::string::npos;
  if (arrow == std::string::npos) return Einsum::kUnknown;
  const bool sums = std::any_of(
      equation->begin(), equation->begin() + static_cast<std::ptrdiff_t>(arrow), [&](char letter) {
        const bool index = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
        return index && equation->find(letter, arrow) == std::string::npos;
      });
  return sums ? Einsum::kSums : Einsum::kMultiplies;
}

const Operator* operator_of(const Instruction& instruction, const FunctionInfo& info) {
  const Operator* op = find_operator(instruction.name);
  if (!op) return op;
  if (op->name == "div") return division(*op, instruction, info);
  if (op->name == "interpolate") return resized(*op, instruction, info);
  if (op->name == "searchsorted" || op->name == "bucketize") return search(*op, instruction, info);
  if (op->name == "diff") return differences(*op, instruction, info);
  if (op->name == "bincount" || op->name == "cov") return weighted(*op, instruction, info);
  if (op->name == "pad") return padded(*op, instruction, info);
  return op->name == "einsum" ? contracted(*op, instruction, info) : op;
}

}  // namespace dtype_guard::flow
