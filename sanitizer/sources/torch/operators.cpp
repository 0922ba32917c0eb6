#include "sanitizer/sources/torch/operators.h"

#include <string.h>
#include <sys/mman.h>

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/sources/torch/stand_ins.h"

namespace dtype_guard::san::torch {
namespace {

bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

Part part_of(const char* name) {
  if (is_node(name)) return Part::kNode;
  if (starts_with(name, "Torch-Compiled Region")) return Part::kRegion;
  if (strpbrk(name, ": #/.") == nullptr) return Part::kFunction;
  constexpr const char* kProjections[] = {"aten::linear",    "aten::addmm",      "aten::mm",
                                          "aten::mv",        "aten::addmv",      "aten::bilinear",
                                          "aten::embedding", "aten::_grouped_mm"};
  constexpr const char* kProducts[] = {"aten::matmul", "aten::bmm", "aten::baddbmm", "aten::baddbmm_",
                                       "aten::einsum"};
  constexpr const char* kSoftmaxes[] = {"aten::softmax", "aten::_softmax"};
  constexpr const char* kCasts[] = {"aten::to", "aten::type_as"};
  for (const char* one : kProjections)
    if (strcmp(one, name) == 0) return Part::kProjection;
  for (const char* one : kProducts)
    if (strcmp(one, name) == 0) return Part::kProduct;
  for (const char* one : kSoftmaxes)
    if (strcmp(one, name) == 0) return Part::kSoftmax;
  for (const char* one : kCasts)
    if (strcmp(one, name) == 0) return Part::kCast;
  return starts_with(name, "aten::conv") ? Part::kProjection : Part::kNone;
}

void describe(Operator& op, const char* name, std::uint32_t hash) {
  strncpy(op.name, name, sizeof op.name - 1);
  op.hash = hash;
  note_stand_in(op.name);
  op.record = -1;
  for (std::size_t i = 0; op.record < 0 && i < own_record_count + kRecordCount; ++i)
    if (strcmp(record_row(i).name, name) == 0) op.record = static_cast<std::int16_t>(i);
  op.is_call = op.record >= 0 && !record_row(static_cast<std::size_t>(op.record)).is_operator;
  op.part = part_of(name);
  op.is_whole = starts_with(name, "aten::") || starts_with(name, "prims::");
}

// Of a longer name its beginning is kept.
bool is_named(const Operator& op, const char* name) {
  if (op.name[sizeof op.name - 2] == '\0') [[likely]]
    return strcmp(op.name, name) == 0;
  return strncmp(op.name, name, sizeof op.name - 1) == 0;
}

}  // namespace

bool Operators::start() {
  if (operators_ != nullptr) return true;
  void* fresh =
      mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return false;
  operators_ = static_cast<Operator*>(fresh);
  for (std::size_t i = 0; i < own_record_count + kRecordCount; ++i) (void)find_text(record_row(i).name);
  return true;
}

const Operator* Operators::find_text(const char* name) {
  const std::uint64_t hash = XXH3_64bits(name, strnlen(name, Operator::kLongestName - 1));
  const auto own = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t i = 0; i < kProbes; ++i) {
    Operator& op = operators_[(hash + i) % kOperators];
    Operator::State state = op.state.load(std::memory_order_acquire);
    if (state == Operator::State::kDescribed && op.hash == own && is_named(op, name)) return &op;
    if (state != Operator::State::kFree ||
        !op.state.compare_exchange_strong(state, Operator::State::kTaken, std::memory_order_acq_rel))
      continue;
    describe(op, name, own);
    op.state.store(Operator::State::kDescribed, std::memory_order_release);
    return &op;
  }
  return nullptr;
}

const Operator& Operators::find(const char* name) {
  static constinit const Operator kOther = {
      Operator::State::kDescribed, 0, -1, false, Part::kNone, false, "other"};
  const std::size_t set = (reinterpret_cast<std::uintptr_t>(name) >> 4) * 0x9e3779b97f4a7c15U >> (64 - 11);
  std::atomic<const Operator*>(&ways)[kWays] = recent_[set];
  for (const std::atomic<const Operator*>& way : ways) {
    const Operator* known = way.load(std::memory_order_acquire);
    if (known != nullptr && is_named(*known, name)) return *known;
  }
  const Operator* found = find_text(name);
  if (found == nullptr) return kOther;
  ways[1].store(ways[0].load(std::memory_order_relaxed), std::memory_order_release);
  ways[0].store(found, std::memory_order_release);
  return *found;
}

}  // namespace dtype_guard::san::torch
