#include "sanitizer/sources/torch/compiled_regions.h"

#include <atomic>

#include "sanitizer/sources/torch/sites.h"

namespace dtype_guard::san::torch {
namespace {

constinit std::atomic<std::uint32_t> open_regions{0};  // in a job without any, allocating takes no longer

}  // namespace

OpenRecord* open_region(ThreadRecords& thread, const Operator& op) {
  OpenRecord* open = thread.open(op);
  if (open != nullptr) open_regions.fetch_add(1, std::memory_order_relaxed);
  return open;
}

void end_region() { open_regions.fetch_sub(1, std::memory_order_relaxed); }

SiteNumber region_of_block() {
  if (open_regions.load(std::memory_order_relaxed) == 0) [[likely]]
    return 0;
  ThreadRecords* thread = thread_records();
  OpenRecord* open = thread != nullptr ? thread->innermost() : nullptr;
  if (open == nullptr || open->op->part != Part::kRegion) return 0;
  if (open->region == 0) {  // all that one run of a region makes has one place, that of the first
    Step step = {};
    step.name = open->op->name;
    step.kind = SiteKind::kMade;
    step.result = kScalarTypeCount;  // the allocator does not know it
    open->region = sites.find(step);
  }
  return open->region;
}

}  // namespace dtype_guard::san::torch
