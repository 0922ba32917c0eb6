#include "sanitizer/sources/torch/thread_records.h"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kProbes = 64;
constexpr int kThreadBits = std::countr_zero(kMostThreads);

struct alignas(64) Slot {  // what each record reads of it is one cache line
  std::atomic<std::uintptr_t> thread;
  ThreadRecords records;
};
Slot* slots = nullptr;

void* map(std::size_t bytes) {
  void* fresh =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return fresh == MAP_FAILED ? nullptr : fresh;
}

}  // namespace

bool start_thread_records() {
  if (slots == nullptr) slots = static_cast<Slot*>(map(sizeof(Slot) * kMostThreads));
  return slots != nullptr;
}

ThreadRecords* thread_records() {
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const std::size_t start = thread * 0x9e3779b97f4a7c15U >> (64 - kThreadBits);
  for (std::size_t i = 0; i < kProbes; ++i) {
    Slot& slot = slots[(start + i) % kMostThreads];
    std::uintptr_t owner = slot.thread.load(std::memory_order_relaxed);
    if (owner == thread) return &slot.records;
    if (owner == 0 && slot.thread.compare_exchange_strong(owner, thread, std::memory_order_relaxed))
      return &slot.records;
  }
  return nullptr;
}

OpenRecord::~OpenRecord() { is_open.store(false, std::memory_order_release); }

// One that was ended by another thread is still in the chain, and its place may have been used again since.
OpenRecord* ThreadRecords::innermost() {
  for (std::size_t i = 0; i < kRecords && innermost_ != nullptr; ++i) {
    if (innermost_->is_open.load(std::memory_order_acquire)) return innermost_;
    innermost_ = innermost_->outer;
  }
  innermost_ = nullptr;
  return nullptr;
}

bool ThreadRecords::is_inside(Part part) {
  OpenRecord* record = innermost();
  for (std::size_t i = 0; i < kRecords && record != nullptr; ++i, record = record->outer)
    if (record->is_open.load(std::memory_order_acquire) && record->op->part == part) return true;
  return false;
}

OpenRecord* ThreadRecords::open(const Operator& op) {
  if (records_ == nullptr) records_ = static_cast<OpenRecord*>(map(sizeof(OpenRecord) * kRecords));
  if (records_ == nullptr) return nullptr;
  OpenRecord* outer = innermost();
  // Records end in the reverse order, so the place behind the outer one is free as a rule.
  std::size_t first = outer != nullptr ? static_cast<std::size_t>(outer - records_) + 1 : 0;
  for (std::size_t i = 0; i < kRecords; ++i) {
    OpenRecord* place = &records_[(first + i) % kRecords];
    if (place->is_open.load(std::memory_order_acquire)) continue;
    auto* record = new (place) OpenRecord;
    record->op = &op;
    record->outer = outer;
    record->thread = this;
    record->operand_count = 0;
    record->has_flat_operand = record->widens_most = record->may_mix = false;
    record->has_elements = record->has_new_operand = false;
    record->has_lost_operands = record->is_attention = record->is_waiting = record->is_part = false;
    record->is_older = record->is_unread = record->has_no_memory = false;
    record->region = 0;
    record->notes_forward = record->has_operands = false;
    record->is_open.store(true, std::memory_order_release);
    innermost_ = record;
    return record;
  }
  return nullptr;
}

}  // namespace dtype_guard::san::torch
