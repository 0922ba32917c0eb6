#include "sanitizer/sources/torch/origins.h"

#include "sanitizer/sources/torch/record_reader.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/storage_life.h"

namespace dtype_guard::san::torch {
namespace {

std::uint8_t bits_of(ScalarType type) { return kScalarTypes[type].bits; }

bool is_operand(const OpenRecord& open, std::uintptr_t storage, ScalarType dtype) {
  for (std::size_t i = 0; i < open.operand_count; ++i)
    if (open.operands[i].storage == storage && open.operands[i].dtype == dtype) return true;
  return false;
}

// Of the operands of this dtype the one whose chain explains most; the first where several do.
OriginChain best_chain(const OpenRecord& open, ScalarType dtype) {
  OriginChain best;
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    if (open.operands[i].dtype != dtype) continue;
    const OriginChain chain = origin_of(open.operands[i].storage, dtype);
    if (chain.weight() > best.weight()) best = chain;
  }
  return best;
}

struct OperandDtypes {
  bool has_other = false;  // than the result's
  bool has_result = false;
  ScalarType widest = 0;
};

OperandDtypes look_at(const OpenRecord& open, ScalarType result) {
  OperandDtypes seen;
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    const ScalarType dtype = open.operands[i].dtype;
    (dtype == result ? seen.has_result : seen.has_other) = true;
    if (i == 0 || bits_of(dtype) > bits_of(seen.widest)) seen.widest = dtype;
  }
  return seen;
}

OriginChain chain_of_result(const OpenRecord& open, ScalarType result) {
  const OperandDtypes seen = look_at(open, result);
  if (seen.has_result && !seen.has_other) return best_chain(open, result);
  Step step;
  step.name = open.op->name;
  step.result = result;
  step.operand_count = open.operand_count;
  for (std::size_t i = 0; i < open.operand_count; ++i) step.operands[i] = open.operands[i].dtype;
  step.kind = open.operand_count == 0                    ? SiteKind::kMade
              : seen.has_result && seen.widest == result ? SiteKind::kMixed
                                                         : SiteKind::kCast;
  const SiteNumber site = sites.find(step);
  if (site == 0) return {};
  const OriginChain before = open.operand_count == 0 ? OriginChain{} : best_chain(open, seen.widest);
  return before.behind(site, result);
}

}  // namespace

OriginChain origin_of(std::uintptr_t storage, ScalarType dtype) {
  const StorageEntry* entry = storage_life.find(storage);
  return entry != nullptr && entry->chain.dtype == dtype ? entry->chain : OriginChain{};
}

void note_operands(OpenRecord& open, const Record& record) {
  each_tensor(inputs_of(record), [&](TensorView tensor) {
    if (tensor.dtype() >= kScalarTypeCount || !kScalarTypes[tensor.dtype()].is_float ||
        tensor.dimensions() == 0)
      return true;
    if (open.operand_count == OpenRecord::kMostOperands) {
      open.has_lost_operands = true;
      return false;
    }
    open.operands[open.operand_count++] = {tensor.storage(), tensor.dtype()};
    return true;
  });
}

void note_results(const OpenRecord& open, const Record& record) {
  if (open.has_lost_operands) return;
  OriginChain chain;
  ScalarType known = 0;
  bool is_known = false;
  each_tensor(outputs_of(record), [&](TensorView tensor) {
    const ScalarType dtype = tensor.dtype();
    if (dtype >= kScalarTypeCount || !kScalarTypes[dtype].is_float) return true;
    const std::uintptr_t storage = tensor.storage();
    if (is_operand(open, storage, dtype)) return true;
    StorageEntry* entry = storage_life.find(storage);
    if (entry == nullptr) return true;
    if (!is_known || known != dtype) {
      chain = chain_of_result(open, dtype);
      known = dtype;
      is_known = true;
    }
    entry->chain = chain;
    return true;
  });
}

}  // namespace dtype_guard::san::torch
