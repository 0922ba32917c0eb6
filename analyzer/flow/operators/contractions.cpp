#include "analyzer/flow/operators/contractions.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/flow/operators/forms.h"
#include "analyzer/flow/program/function_info.h"

namespace dtype_guard::flow {
namespace {

constexpr std::array<std::string_view, 5> kContractions = {"matmul", "bmm", "mm", "einsum", "baddbmm"};
// Layers with weights of their own: what comes out is neither scores nor rotated, whatever went in.
constexpr std::array<std::string_view, 10> kLayers = {
    "linear",    "lstm",     "gru",           "rnn_tanh",      "rnn_relu",
    "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "multi_head_attention_forward"};
constexpr std::array<std::string_view, 3> kSoftmaxes = {"softmax", "_softmax", "_safe_softmax"};

// What makes a table of a rotary embedding, and of which half.
struct TableOperator {
  std::string_view name;
  std::uint8_t marks;
};
constexpr std::array<TableOperator, 3> kTableOperators = {
    {{"cos", kTable | kCosine}, {"sin", kTable | kSine}, {"polar", kTable}}};
std::uint8_t table_of(std::string_view op) {
  const auto found = std::find_if(kTableOperators.begin(), kTableOperators.end(),
                                  [&](const TableOperator& each) { return each.name == op; });
  return found == kTableOperators.end() ? kNoLineage : found->marks;
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Api product_api(std::string_view op) {
  Api api;
  api.name = op;
  api.library = "torch";
  api.kind = ApiKind::kAttention;
  api.spellings = {api.name};
  api.operands.resize(2);
  api.operands[0].role = "left";
  api.operands[0].argument = 0;
  api.operands[1].role = "right";
  api.operands[1].argument = 1;
  api.operands[1].same_as = "left";
  for (const char* device : {"cuda", "cpu", "xpu", "mps"}) api.autocast[device] = AutocastBehaviour::kRecasts;
  api.fast["cuda"] = {Dtype::kFloat16,
                      Dtype::kBFloat16};  // float32 goes without the tensor cores' half products
  return api;
}

}  // namespace

bool is_contraction(std::string_view op) { return is_one_of(kContractions, op); }

bool is_softmax(std::string_view op) { return is_one_of(kSoftmaxes, op); }

std::uint8_t lineage_after(std::string_view op, const std::vector<std::uint8_t>& inputs) {
  std::uint8_t all = kNoLineage, tables = kNoLineage, others = kNoLineage;
  bool other = false;
  for (const std::uint8_t each : inputs) {
    all |= each;
    (each & kTable ? tables : others) |= each;
    other = other || !(each & kTable);
  }
  if (const std::uint8_t table = table_of(op)) return all | table;
  if (op == "mul" && tables && other) {
    // A table of both says nothing of what it does to which part.
    const auto which = static_cast<std::uint8_t>(tables & (kCosine | kSine));
    const std::uint8_t one = which == (kCosine | kSine) ? kNoLineage : which;
    return static_cast<std::uint8_t>(others | (tables & (kProduct | kScores)) | kRotated | one);
  }
  if (is_softmax(op)) return all & kProduct ? kScores : all;
  if (op == "sum") return all | kSum;
  if (op == "div" && inputs.size() == 2 && !(inputs[0] & kSum)) {
    // Products divided by their own sum, as linear attention has it.
    constexpr std::uint8_t kOwnSum = kProduct | kSum;
    if (inputs[0] & kProduct && (inputs[1] & kOwnSum) == kOwnSum) return kScores;
    return static_cast<std::uint8_t>(all & ~kSum);
  }
  if (is_one_of(kLayers, op.substr(0, op.find('.')))) return kNoLineage;
  if (is_contraction(op)) {
    // Scores times values end the attention; queries times keys begin it.
    return all & kScores ? kAttended : static_cast<std::uint8_t>((all & kRotated) | kProduct);
  }
  return all;
}

bool is_turned(std::uint8_t lineage) {
  constexpr std::uint8_t kBoth = kRotated | kCosine | kSine;
  return (lineage & kBoth) == kBoth;
}

bool is_sine(std::string_view op) { return (table_of(op) & kSine) != 0; }

bool is_of_attention(std::uint8_t lineage) { return (lineage & (kRotated | kScores)) != 0; }

bool is_of_attention_code(std::uint8_t lineage) { return (lineage & (kRotated | kScores | kAttended)) != 0; }

bool keeps_products(const Operator& op) {
  return op.name != "linear" && op.rank != RankRule::kReduce && op.result != ResultRule::kBool;
}

bool is_product(const Api& api) { return api.library == "torch" && is_contraction(api.name); }

const Api* product_contract(std::string_view op, const Instruction& instruction, const FunctionInfo& info) {
  if (!is_contraction(op)) return nullptr;
  if (op == "einsum" && einsum_kind(instruction, info) != Einsum::kSums) return nullptr;
  static const std::map<std::string_view, Api> kApis = [] {
    std::map<std::string_view, Api> made;
    for (const std::string_view each : kContractions) made.emplace(each, product_api(each));
    return made;
  }();
  return &kApis.at(op);
}

}  // namespace dtype_guard::flow
