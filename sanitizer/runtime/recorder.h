// What happens off the clean path: the first call of an API, and a call that breaks its contract. The latter
// is reduced to a key (API, dtypes, stack); a new key becomes one frame in the journal, a known one is only
// counted.
#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/runtime/contract_table.h"
#include "sanitizer/runtime/process.h"

namespace dtype_guard::san {

// Notes in the journal that `api` was called and where its kernel is.
void record_first_call(Process& process, ApiId api, const void* kernel);

// `operands` has kContracts[api].operand_count entries, required ones not NULL. Does not return when
// halt_on_error is set.
void record_violation(Process& process, ApiId api, const DLTensor* const* operands);

// Opens the journal of a process that is of interest before its first call, so that "no call was seen" can be
// said.
void record_process(Process& process);

// Writes the final counts; gives the number of distinct findings of this process.
std::uint64_t record_end(Process& process);

inline std::uint32_t packed_dtype(const DLTensor& tensor) {
  return std::uint32_t{tensor.dtype.code} << 16 | std::uint32_t{tensor.dtype.bits} << 8 | tensor.dtype.lanes;
}

}  // namespace dtype_guard::san
