// Where dtypes come from: for each operator that ends, its results take over the chain of the operands that
// had their dtype already, or begin a new one with this operator in front.
//
// What does not count: operands of no dimension (a wrapped number raises nothing), a result that is one of
// the operands (a view, or written in place), records inside an operator of PyTorch's own.
#pragma once

#include <atomic>

#include "sanitizer/sources/torch/origin_chain.h"
#include "sanitizer/sources/torch/thread_records.h"

namespace dtype_guard::san::torch {

// Whether they are noted now; between sampled steps they are not.
inline constinit std::atomic<bool> notes_origins{false};

// At the start: what the operator reads.
void note_operands(OpenRecord& open, const Record& record);
// At the end, for operands without an origin of which no use was seen: that this is one.
void note_first_uses(const OpenRecord& open);
// At the end: what it gave.
void note_results(const OpenRecord& open, const Record& record);

// The chain of what lies in a storage as `dtype`; empty when that is not known.
OriginChain origin_of(std::uintptr_t storage, ScalarType dtype);

// Of memory without an origin: whether a use of it was seen, and where the first was, with this dtype; 0
// where that was not kept.
struct FirstUse {
  bool was_seen = true;
  SiteNumber site = 0;
};
FirstUse first_use_of(std::uintptr_t storage, ScalarType dtype);

}  // namespace dtype_guard::san::torch
