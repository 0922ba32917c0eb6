#include "analyzer/flow/operators/contractions.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "analyzer/flow/operators/forms.h"
#include "analyzer/flow/program/function_info.h"
#include "rules/operators/devices.h"

namespace dtype_guard::flow {
namespace {

// The part that an operator has in attention which is written by hand.
enum class Part : std::uint8_t {
  kNone,
  kContraction,  // of matrices
  kByEquation,   // a contraction where its equation sums
  kSoftmax,
  kFactor,    // turns what it is given by a table
  kAddend,    // a table that is added to a tensor says where, and turns nothing
  kSum,       //
  kQuotient,  //
  kTable,     // of a rotary embedding
  // Layers with weights of their own: what comes out is neither scores nor rotated, whatever went in.
  kLayer,
  kProjection,  // the same, and what it gives is no product of attention either
};
struct PartOfOperator {
  std::string_view name;
  Part part;
  std::uint8_t marks = kNoLineage;  // of what a table holds
  std::string_view summand = {};    // the argument that is added to the product
};
constexpr PartOfOperator kParts[] = {
    {"matmul", Part::kContraction},
    {"bmm", Part::kContraction},
    {"mm", Part::kContraction},
    {"baddbmm", Part::kContraction, kNoLineage, "self"},
    {"einsum", Part::kByEquation},
    {"softmax", Part::kSoftmax},
    {"_softmax", Part::kSoftmax},
    {"_safe_softmax", Part::kSoftmax},
    {"mul", Part::kFactor},
    {"add", Part::kAddend},
    {"sub", Part::kAddend},
    {"sum", Part::kSum},
    {"div", Part::kQuotient},
    {"cos", Part::kTable, kTable | kCosine},
    {"sin", Part::kTable, kTable | kSine},
    {"polar", Part::kTable, kTable},
    {"linear", Part::kProjection},
    {"lstm", Part::kLayer},
    {"gru", Part::kLayer},
    {"rnn_tanh", Part::kLayer},
    {"rnn_relu", Part::kLayer},
    {"lstm_cell", Part::kLayer},
    {"gru_cell", Part::kLayer},
    {"rnn_tanh_cell", Part::kLayer},
    {"rnn_relu_cell", Part::kLayer},
    {"multi_head_attention_forward", Part::kLayer},
};
constexpr PartOfOperator kNoPart = {{}, Part::kNone};

const PartOfOperator& row_of(std::string_view op) {
  const auto* found = std::find_if(std::begin(kParts), std::end(kParts),
                                   [&](const PartOfOperator& each) { return each.name == op; });
  return found == std::end(kParts) ? kNoPart : *found;
}
Part part_of(std::string_view op) { return row_of(op).part; }

// By the entry's plain name: "lstm.data" is one of its forms.
bool is_layer(std::string_view op) {
  const Part part = part_of(op.substr(0, op.find('.')));
  return part == Part::kLayer || part == Part::kProjection;
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
  for (const std::string_view device : kDevices)
    api.autocast[std::string(device)] = AutocastBehaviour::kRecasts;
  api.fast["cuda"] = {Dtype::kFloat16,
                      Dtype::kBFloat16};  // float32 goes without the tensor cores' half products
  return api;
}

}  // namespace

bool is_contraction(std::string_view op) {
  const Part part = part_of(op);
  return part == Part::kContraction || part == Part::kByEquation;
}

bool is_softmax(std::string_view op) { return part_of(op) == Part::kSoftmax; }

bool adds(std::string_view op) { return part_of(op) == Part::kAddend; }

std::string_view summand_of(std::string_view op) { return row_of(op).summand; }

std::uint8_t lineage_after(std::string_view op, const std::vector<std::uint8_t>& inputs) {
  std::uint8_t all = kNoLineage, tables = kNoLineage, others = kNoLineage;
  bool other = false;
  for (const std::uint8_t each : inputs) {
    all |= each;
    (each & kTable ? tables : others) |= each;
    other = other || !(each & kTable);
  }
  const PartOfOperator& row = row_of(op);
  if (row.marks) return all | row.marks;
  if (row.part == Part::kFactor && tables && other) {
    // A table of both says nothing of what it does to which part.
    const auto which = static_cast<std::uint8_t>(tables & (kCosine | kSine));
    const std::uint8_t one = which == (kCosine | kSine) ? kNoLineage : which;
    return static_cast<std::uint8_t>(others | (tables & (kProduct | kScores)) | kRotated | one);
  }
  if (row.part == Part::kAddend && tables && other)
    return static_cast<std::uint8_t>(others | (tables & (kProduct | kScores)));
  if (row.part == Part::kSoftmax) return all & kProduct ? kScores : all;
  if (row.part == Part::kSum) return all | kSum;
  if (row.part == Part::kQuotient && inputs.size() == 2 && !(inputs[0] & kSum)) {
    // Products divided by their own sum, as linear attention has it.
    constexpr std::uint8_t kOwnSum = kProduct | kSum;
    if (inputs[0] & kProduct && (inputs[1] & kOwnSum) == kOwnSum) return kScores;
    return static_cast<std::uint8_t>(all & ~kSum);
  }
  if (is_layer(op)) return kNoLineage;
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

bool is_sine(std::string_view op) { return (row_of(op).marks & kSine) != 0; }

bool is_of_attention(std::uint8_t lineage) { return (lineage & (kRotated | kScores)) != 0; }

bool is_of_attention_code(std::uint8_t lineage) { return (lineage & (kRotated | kScores | kAttended)) != 0; }

bool keeps_products(const Operator& op) {
  return part_of(op.name) != Part::kProjection && op.rank != RankRule::kReduce &&
         op.result != ResultRule::kBool;
}

namespace {
// Null where it is no product of matrices.
const Api* api_of_product(std::string_view op) {
  static const std::map<std::string_view, Api> kApis = [] {
    std::map<std::string_view, Api> made;
    for (const PartOfOperator& each : kParts) {
      if (is_contraction(each.name)) made.emplace(each.name, product_api(each.name));
    }
    return made;
  }();
  const auto found = kApis.find(op);
  return found == kApis.end() ? nullptr : &found->second;
}
}  // namespace

bool is_product(const Api& api) { return api_of_product(api.name) == &api; }

const Api* product_contract(std::string_view op, const Instruction& instruction, const FunctionInfo& info) {
  const bool unsummed = part_of(op) == Part::kByEquation && einsum_kind(instruction, info) != Einsum::kSums;
  return unsummed ? nullptr : api_of_product(op);
}

}  // namespace dtype_guard::flow
