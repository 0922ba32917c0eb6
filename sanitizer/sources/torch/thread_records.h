// The records that are open on a thread, as far as they matter: from the start of an operator to its end,
// what it was called with. The place of one is handed to libtorch as its ObserverContext, so it comes back at
// the end of the record, whichever way that is reached, and is used again.
//
// Threads are found by their control block's address, without thread-local storage.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/torch/abi.h"
#include "sanitizer/sources/torch/call_operands.h"
#include "sanitizer/sources/torch/operators.h"
#include "sanitizer/sources/torch/origin_chain.h"
#include "sanitizer/sources/torch/scalar_types.h"

namespace dtype_guard::san::torch {

struct ReadOperand {
  std::uintptr_t storage;
  std::uint64_t elements;  // where OpenRecord::has_elements
  OriginChain origin;      // as it was read; empty where it is not known
  ScalarType dtype;
  bool is_new;  // no allocator announced it, and no operator has used it
};

class ThreadRecords;

// That have a place; one that ended leaves it to the next with a control block at that address.
inline constexpr std::size_t kMostThreads = 4096;

// An open record.
class OpenRecord final : public Context {
 public:
  static constexpr std::size_t kMostOperands = 12;
  ~OpenRecord() override;

  const Operator* op;
  OpenRecord* outer;
  ThreadRecords* thread;
  std::uint32_t operand_count;
  bool has_operands;         // they were noted
  bool has_lost_operands;    // there were more
  bool has_flat_operand;     // one has less than three dimensions
  bool has_elements;         // those of the operands are counted
  bool has_new_operand;      // of which no use was seen
  bool may_mix;              // floating operands, those of no dimension among them, differ in dtype
  bool widens_most;          // of several dtypes a narrower one is that of the operand with the most elements
  bool is_attention;         // the outermost that a contract speaks of
  bool is_waiting;           // its contract is broken, unless autocast recasts the operands inside
  bool has_no_memory;        // an operand stands for others: the records inside are no parts of this one
  bool is_unread;            // a call or operator of such, of which none inside was looked at
  bool is_older;             // that of an older version is meant (RecordRow::older)
  bool is_part;              // of another operator: what it gives is noted with that
  bool notes_forward;        // the autograd nodes that it makes are noted with its line
  std::uint64_t first_node;  // number of the first of them
  SiteNumber region;         // of a compiled region: where it first allocated, or 0
  std::atomic<bool> is_open;
  ReadOperand operands[kMostOperands];  // of floating dtypes and some dimension
};

class ThreadRecords {
 public:
  static constexpr std::size_t kRecords = 32;

  OpenRecord* innermost();
  // Whether an open record is such a part.
  bool is_inside(Part part);
  // nullptr when all places are taken: then the record is as if it was not watched.
  OpenRecord* open(const Operator& op);

 private:
  OpenRecord* innermost_;
  OpenRecord* records_;

 public:
  CallOperands waiting;          // of the record that is waiting
  const Operator* mixes_inside;  // the last operator inside that one, or itself, that was called with a mix
};

// This thread's; nullptr when there is no room for another thread.
ThreadRecords* thread_records();
bool start_thread_records();

}  // namespace dtype_guard::san::torch
