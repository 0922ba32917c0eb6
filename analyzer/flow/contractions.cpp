#include "analyzer/flow/contractions.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "analyzer/flow/function_info.h"

namespace dtype_guard::flow {
namespace {

constexpr std::array<std::string_view, 5> kContractions = {"matmul", "bmm", "mm", "einsum", "baddbmm"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

enum class Einsum { kUnknown, kSums, kMultiplies };

// Whether an einsum sums over anything: a letter of its inputs is missing from its output.
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

// With a rounding mode integers stay integers; without one that can be read nothing is known.
const Operator* division(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* rounding = argument_of(instruction, "rounding_mode", 2);
  if (!rounding) return &plain;
  const Instruction* mode = definition(*rounding, info);
  if (mode && std::holds_alternative<None>(mode->constant)) return &plain;
  const bool rounds = mode && std::holds_alternative<std::string>(mode->constant);
  return rounds ? find_operator("div.rounded") : nullptr;
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

// Whether an optional tensor is there: an argument that is not stated to be none.
bool is_given(const Argument* argument, const FunctionInfo& info) {
  const Instruction* made = argument ? definition(*argument, info) : nullptr;
  return argument && !(made && std::holds_alternative<None>(made->constant));
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

Api product_api(std::string_view op) {
  Api api;
  api.name = op;
  api.library = "torch";
  api.kind = ApiKind::kAttention;
  api.spellings = {api.name};
  api.operands.resize(2);
  api.operands[0].role = "left";
  api.operands[1].role = "right";
  api.operands[1].argument = 1;
  api.operands[1].same_as = "left";
  for (const char* device : {"cuda", "cpu", "xpu", "mps"}) api.autocast[device] = AutocastBehaviour::kRecasts;
  return api;
}

}  // namespace

const Operator* operator_of(const Instruction& instruction, const FunctionInfo& info) {
  const Operator* op = find_operator(instruction.name);
  if (!op) return op;
  if (op->name == "div") return division(*op, instruction, info);
  if (op->name == "searchsorted" || op->name == "bucketize") return search(*op, instruction, info);
  if (op->name == "diff") return differences(*op, instruction, info);
  if (op->name == "bincount" || op->name == "cov") return weighted(*op, instruction, info);
  const bool multiplies = op->name == "einsum" && einsum_kind(instruction, info) == Einsum::kMultiplies;
  return multiplies ? find_operator("einsum.mul") : op;
}

bool is_contraction(std::string_view op) { return is_one_of(kContractions, op); }

std::uint8_t lineage_after(std::string_view op, const std::vector<std::uint8_t>& inputs) {
  std::uint8_t all = kNoLineage;
  bool table = false;
  bool other = false;
  for (const std::uint8_t each : inputs) {
    all |= each;
    (each & kTable ? table : other) = true;
  }
  if (op == "cos" || op == "sin" || op == "polar") return all | kTable;
  if (op == "mul" && table && other) return static_cast<std::uint8_t>((all & ~kTable) | kRotated);
  if (op == "softmax") return all & kProduct ? kScores : all;
  if (op == "linear") return kNoLineage;
  if (is_contraction(op)) {
    // Scores times values end the attention; queries times keys begin it.
    return all & kScores ? kNoLineage : static_cast<std::uint8_t>((all & kRotated) | kProduct);
  }
  return all;
}

const Api* attention_by_hand(std::string_view op, const Instruction& instruction, const FunctionInfo& info,
                             std::uint8_t left, std::uint8_t right) {
  if (!is_contraction(op) || !((left | right) & (kRotated | kScores))) return nullptr;
  if (op == "einsum" && einsum_kind(instruction, info) != Einsum::kSums) return nullptr;
  static const std::map<std::string_view, Api> kApis = [] {
    std::map<std::string_view, Api> made;
    for (const std::string_view each : kContractions) made.emplace(each, product_api(each));
    return made;
  }();
  return &kApis.at(op);
}

}  // namespace dtype_guard::flow
