#include "sanitizer/sources/torch/origins.h"

#include "sanitizer/sources/torch/record_reader.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/storage_life.h"

namespace dtype_guard::san::torch {
namespace {

std::uint8_t bits_of(ScalarType type) { return kScalarTypes[type].bits; }

// What a compiled region made has the dtype that it is read in.
OriginChain chain_of(const StorageEntry* entry, ScalarType dtype) {
  if (entry == nullptr) return {};
  if (!entry->chain.is_empty() || entry->is_compiled == 0)
    return entry->chain.dtype == dtype ? entry->chain : OriginChain{};
  OriginChain made;
  made.sites[0] = site_number(entry->first_use - 1, SiteKind::kMade);
  made.dtype = dtype;
  return made;
}

bool is_operand(const OpenRecord& open, std::uintptr_t storage, ScalarType dtype) {
  for (std::size_t i = 0; i < open.operand_count; ++i)
    if (open.operands[i].storage == storage && open.operands[i].dtype == dtype) return true;
  return false;
}

bool has_operand_of(const OpenRecord& open, ScalarType dtype) {
  for (std::size_t i = 0; i < open.operand_count; ++i)
    if (open.operands[i].dtype == dtype) return true;
  return false;
}

bool has_both_halves(const OpenRecord& open) {
  return has_operand_of(open, kHalf) && has_operand_of(open, kBFloat16);
}

// Of the operands of this dtype the one whose chain explains most; the first where several do.
OriginChain best_chain(const OpenRecord& open, ScalarType dtype) {
  const OriginChain* best = nullptr;
  std::uint32_t weight = 0;
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    const ReadOperand& operand = open.operands[i];
    if (operand.dtype != dtype || operand.origin.weight() <= weight) continue;
    best = &operand.origin;
    weight = best->weight();
  }
  return best != nullptr ? *best : OriginChain{};
}

std::uint8_t all_flags(const OpenRecord& open) {
  std::uint8_t flags = 0;
  for (std::size_t i = 0; i < open.operand_count; ++i) flags |= open.operands[i].origin.flags;
  return flags;
}

std::uint64_t most_elements(const OpenRecord& open) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < open.operand_count; ++i)
    if (open.operands[i].elements > most) most = open.operands[i].elements;
  return most;
}

// Whether a cast made all those of the most elements as wide: a table that was cast says nothing of what it
// is multiplied with.
bool are_largest_cast(const OpenRecord& open) {
  const std::uint64_t most = most_elements(open);
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    const ReadOperand& operand = open.operands[i];
    if (operand.elements == most && (operand.origin.flags & kCast) == 0) return false;
  }
  return true;
}

enum class Result : std::uint8_t {
  kSame,      // the dtype of all operands
  kPromoted,  // the wider one of theirs
  kWidened,   // by a cast
  kOther,
};

// What the result of an operator is in attention.
std::uint8_t flags_of_result(const OpenRecord& open, Result result) {
  const std::uint8_t before = all_flags(open);
  const bool is_implied = (result == Result::kSame || result == Result::kPromoted) &&
                          ((before & kImplied) != 0 || (result == Result::kPromoted && open.widens_most));
  switch (open.op->part) {
    case Part::kProjection:
      return 0;
    case Part::kProduct:
      if (open.has_flat_operand || open.operand_count < 2) return 0;
      if (is_implied) return kScores | kImplied | kWideScores;
      return static_cast<std::uint8_t>(kScores | ((before & kCast) != 0 ? kCastScores : 0));
    case Part::kSoftmax:
      return (before & kScores) != 0 ? kWeightsOfValues : 0;
    case Part::kNone:
    case Part::kCast:
    case Part::kFunction:
    case Part::kNode:
    case Part::kRegion:
      break;
  }
  const bool is_cast = result == Result::kWidened ||
                       (result == Result::kSame && (before & kCast) != 0 && are_largest_cast(open));
  return static_cast<std::uint8_t>((before & ~(kImplied | kCast)) | (is_implied ? kImplied : 0) |
                                   (is_cast ? kCast : 0));
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

// float16 and bfloat16 promote to float32, which neither of them is.
bool is_promoted_to(const OpenRecord& open, const OperandDtypes& seen, ScalarType result) {
  return seen.has_result ? seen.widest == result : result == kFloat && has_both_halves(open);
}

OriginChain chain_of_result(const OpenRecord& open, ScalarType result) {
  const OperandDtypes seen = look_at(open, result);
  if (seen.has_result && !seen.has_other) {
    OriginChain same = best_chain(open, result);
    same.flags = flags_of_result(open, Result::kSame);
    same.dtype = result;
    return same;
  }
  Step step;
  step.name = open.op->name;
  step.result = result;
  step.operand_count = open.operand_count;
  for (std::size_t i = 0; i < open.operand_count; ++i) step.operands[i] = open.operands[i].dtype;
  step.kind = open.operand_count == 0              ? SiteKind::kMade
              : is_promoted_to(open, seen, result) ? SiteKind::kMixed
                                                   : SiteKind::kCast;
  const SiteNumber site = sites.find(step);
  if (site == 0) return {};
  // What lies behind a cast is not told, and would take the room of what is.
  const OriginChain before = step.kind == SiteKind::kMixed ? best_chain(open, seen.widest) : OriginChain{};
  OriginChain longer = before.behind(site, result);
  const bool widens = step.kind == SiteKind::kCast && bits_of(result) > bits_of(seen.widest);
  longer.flags = flags_of_result(open, step.kind == SiteKind::kMixed ? Result::kPromoted
                                       : widens                      ? Result::kWidened
                                                                     : Result::kOther);
  return longer;
}

std::uint64_t elements_of(TensorView tensor) {
  constexpr std::size_t kMostDimensions = 16;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < tensor.dimensions() && i < kMostDimensions; ++i)
    count *= static_cast<std::uint64_t>(tensor.sizes()[i]);
  return count;
}

// A cast to the dtype that a tensor has is a word of the program on it: it would have been made so here, if a
// promotion had not done that before. Python casts to a device alone by the operator that has eight
// arguments, whose dtype is the tensor's own.
bool names_dtype(const OpenRecord& open, const Record& record) {
  constexpr std::size_t kArgumentsOfDevice = 8;
  return open.op->part == Part::kCast && inputs_of(record).count != kArgumentsOfDevice;
}

void note_cast_to_own_dtype(StorageEntry* entry, const OpenRecord& open, ScalarType dtype) {
  if (entry == nullptr || entry->chain.dtype != dtype || (entry->chain.flags & kImplied) == 0) return;
  Step step = {};
  step.name = open.op->name;
  step.kind = SiteKind::kCast;
  step.result = step.operands[0] = dtype;
  step.operand_count = 1;
  const std::uint8_t flags = (entry->chain.flags & ~kImplied) | kCast;
  if (const SiteNumber site = sites.find(step)) entry->chain = entry->chain.behind(site, dtype);
  entry->chain.flags = flags;
}

// A table, a scale or weights widen what they are broadcast over. Where the larger operand is the wide one,
// or both are as large (a residual in float32), the program keeps it so. Of two half dtypes each is widened.
void note_mix(OpenRecord& open) {
  std::uint64_t most_of_narrow = 0, most_of_wide = 0;
  std::uint8_t widest = 0;
  for (std::size_t i = 0; i < open.operand_count; ++i)
    if (bits_of(open.operands[i].dtype) > widest) widest = bits_of(open.operands[i].dtype);
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    std::uint64_t& most = bits_of(open.operands[i].dtype) == widest ? most_of_wide : most_of_narrow;
    if (open.operands[i].elements > most) most = open.operands[i].elements;
  }
  open.widens_most = most_of_narrow > most_of_wide || (widest == bits_of(kHalf) && has_both_halves(open));
}

}  // namespace

OriginChain origin_of(std::uintptr_t storage, ScalarType dtype) {
  return chain_of(storage_life.find(storage), dtype);
}

FirstUse first_use_of(std::uintptr_t storage, ScalarType dtype) {
  const StorageEntry* entry = storage_life.find(storage);
  if (entry == nullptr || entry->is_unused()) return {.was_seen = false, .site = 0};
  if (!entry->chain.is_empty() || entry->first_use == StorageEntry::kUseWithoutSite) return {};
  const SiteNumber number = site_number(entry->first_use - 1, SiteKind::kUsed);
  const Site* site = sites.at(number);
  return {.was_seen = true, .site = site != nullptr && site->result == dtype ? number : 0};
}

void note_operands(OpenRecord& open, const Record& record) {
  open.has_operands = true;
  TensorView tensors[OpenRecord::kMostOperands];
  ScalarType first = kScalarTypeCount;
  std::uint8_t flags = 0;
  bool differ = false;
  each_tensor(inputs_of(record), [&](TensorView tensor) {
    const ScalarType dtype = tensor.dtype();
    if (dtype >= kScalarTypeCount || !kScalarTypes[dtype].is_float) return true;
    if (first == kScalarTypeCount) first = dtype;
    open.may_mix = open.may_mix || dtype != first;
    const std::size_t dimensions = tensor.dimensions();
    if (dimensions == 0) return true;
    if (open.operand_count == OpenRecord::kMostOperands) {
      open.has_lost_operands = open.may_mix = true;
      return false;
    }
    tensors[open.operand_count] = tensor;
    ReadOperand& operand = open.operands[open.operand_count++];
    operand.storage = tensor.storage();
    open.has_no_memory = open.has_no_memory || operand.storage == 0;
    operand.dtype = dtype;
    const StorageEntry* entry = storage_life.find(operand.storage);
    operand.origin = chain_of(entry, dtype);
    operand.is_new = entry == nullptr || entry->is_unused();
    flags |= operand.origin.flags;
    differ = differ || dtype != open.operands[0].dtype;
    open.has_new_operand = open.has_new_operand || operand.is_new;
    open.has_flat_operand = open.has_flat_operand || dimensions < 3;
    return true;
  });
  open.has_elements = differ || (flags & kCast) != 0;  // what asks for them
  if (!open.has_elements) return;
  for (std::size_t i = 0; i < open.operand_count; ++i) open.operands[i].elements = elements_of(tensors[i]);
  if (differ) note_mix(open);
}

void note_first_uses(const OpenRecord& open) {
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    const ReadOperand& operand = open.operands[i];
    StorageEntry* entry = operand.is_new ? storage_life.take_unused(operand.storage) : nullptr;
    if (entry == nullptr) continue;
    Step step = {};
    step.name = open.op->name;
    step.kind = SiteKind::kUsed;
    step.result = step.operands[0] = operand.dtype;
    step.operand_count = 1;
    const SiteNumber site = sites.find(step);
    entry->first_use = site != 0 ? index_of(site) + 1 : StorageEntry::kUseWithoutSite;
  }
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
    StorageEntry* entry = storage_life.find(storage);
    if (is_operand(open, storage, dtype)) {
      if (names_dtype(open, record)) note_cast_to_own_dtype(entry, open, dtype);
      return true;
    }
    if (entry == nullptr || entry->is_unannounced != 0) return true;
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
