// Code that torch.compile compiled writes to memory by kernels of its own, which make no record. What is
// allocated while such a region is the innermost record of its thread, and no operator fills, was made there.
#pragma once

#include "sanitizer/sources/torch/thread_records.h"

namespace dtype_guard::san::torch {

OpenRecord* open_region(ThreadRecords& thread, const Operator& op);
void end_region();
// As a block is allocated: where the region that it is made in allocated first; 0 outside of one.
SiteNumber region_of_block();

}  // namespace dtype_guard::san::torch
