// Scratch memory of a call: the caller's workspace with as many threads as fit into it, or one that lives for
// the call.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "kernels/call/call.h"
#include "kernels/cuda/backend.h"

namespace flash_ref {

inline constexpr std::size_t kScratchAlignment = 64;

// What a workspace of unknown alignment needs for `shared` and `threads` times `scratch` bytes.
inline std::size_t workspace_for(std::size_t shared, std::size_t scratch, int threads) {
  return scratch == 0 ? 0 : shared + scratch * static_cast<std::size_t>(threads) + kScratchAlignment - 1;
}

// Where a call on a CUDA device runs.
template <class Options>
cuda::Place place_of(const Call& call, const Options& options) {
  return {call.device(), options.stream, options.workspace, options.workspace_bytes};
}

// Calls solve(memory, threads) with aligned memory of shared + threads * scratch bytes, each a multiple of
// the alignment.
template <class Options, class Solve>
int with_scratch(const Call& call, const Options& options, std::size_t shared, std::size_t scratch,
                 int threads, const Solve& solve) {
  if (scratch == 0) return FLASH_REF_OK;
  if (options.workspace == nullptr) {
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(kScratchAlignment, shared + scratch * static_cast<std::size_t>(threads)),
        &std::free);
    if (memory == nullptr) {
      return call.fail(FLASH_REF_OUT_OF_MEMORY, "no workspace was given and %zu bytes could not be allocated",
                       shared + scratch * static_cast<std::size_t>(threads));
    }
    solve(memory.get(), threads);
    return FLASH_REF_OK;
  }
  void* memory = options.workspace;
  std::size_t bytes = options.workspace_bytes;
  if (std::align(kScratchAlignment, shared + scratch, memory, bytes) == nullptr) {
    return call.fail(FLASH_REF_BAD_WORKSPACE, "options.workspace_bytes is %zu; expected at least %zu",
                     options.workspace_bytes, workspace_for(shared, scratch, 1));
  }
  solve(memory, static_cast<int>(std::min((bytes - shared) / scratch, static_cast<std::size_t>(threads))));
  return FLASH_REF_OK;
}

}  // namespace flash_ref
