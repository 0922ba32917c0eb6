// From an attention problem to what the kernels are given: which instance, how many blocks, and where 16
// bytes can be moved at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/call/call.h"
#include "kernels/cuda/attention_launch.h"
#include "kernels/cuda/backend.h"

namespace flash_ref::cuda {

inline constexpr std::int64_t kMostRows = std::int64_t{1} << 30;
inline constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

inline std::int64_t pieces_of(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

// Rows of dim 16-bit numbers can be read and written in chunks of 16 bytes.
inline bool in_chunks(const void* base, const Strides4& strides, std::int64_t dim) {
  constexpr std::int64_t kNear = std::int64_t{1} << 24;  // 128 rows apart, 32 bits still count elements
  return dim % 8 == 0 && (strides[3] == 1 || dim <= 1) && strides[0] % 8 == 0 && strides[1] % 8 == 0 &&
         strides[2] % 8 == 0 && strides[1] < kNear && strides[1] > -kNear &&
         reinterpret_cast<std::uintptr_t>(base) % 16 == 0;
}

// The instance's head dim for one of 1 to 256.
inline int padded_dim(std::int64_t dim) {
  for (int padded : kAttentionDims) {
    if (dim <= padded) return padded;
  }
  return 0;
}

// What attention kernels cannot do, as a status.
inline int check_attention(const Call& call, const AttentionProblem& problem) {
  if (padded_dim(problem.dim) == 0) {
    return call.fail(FLASH_REF_BAD_SHAPE, "q has dim %lld; expected 256 at most on a CUDA device",
                     static_cast<long long>(problem.dim));
  }
  if (std::max(problem.seq_q, problem.seq_k) > kMostRows) {
    return call.fail(FLASH_REF_BAD_SHAPE, "a sequence has %lld rows; expected %lld at most on a CUDA device",
                     static_cast<long long>(std::max(problem.seq_q, problem.seq_k)),
                     static_cast<long long>(kMostRows));
  }
  return FLASH_REF_OK;
}

// A scale that is not positive turns maxima around, so the general kernel multiplies first.
inline Masking masking_of(const AttentionProblem& problem) {
  const bool plain = problem.scale > 0 && problem.softcap == 0 && problem.window == 0 &&
                     problem.slopes == nullptr && problem.mask_kind == MaskKind::kNone;
  if (!plain) return Masking::kGeneral;
  return problem.causal ? Masking::kCausal : Masking::kNone;
}

// Tiles of `size` queries of one head. Sequences of different lengths may each leave one unfilled.
inline std::int64_t query_tiles(const AttentionProblem& problem, int size) {
  const std::int64_t tiles = pieces_of(problem.seq_q, size);
  return problem.q_offsets == nullptr ? tiles : problem.seq_q / size + problem.batch;
}

inline AttentionLaunch make_launch(const AttentionProblem& problem, std::int64_t tiles) {
  AttentionLaunch launch{};
  launch.problem = problem;
  launch.problem.window = std::min(problem.window, kMostRows);
  launch.total_q = problem.seq_q;
  launch.total_k = problem.seq_k;
  launch.tiles = static_cast<std::int32_t>(tiles);
  launch.q_in_chunks = in_chunks(problem.q, problem.q_strides, problem.dim);
  launch.k_in_chunks = in_chunks(problem.k, problem.k_strides, problem.dim);
  launch.v_in_chunks = in_chunks(problem.v, problem.v_strides, problem.dim);
  launch.out_in_chunks = in_chunks(problem.out, problem.out_strides, problem.dim);
  return launch;
}

// Whether a query can see `few` keys or fewer, as far as the host can tell.
inline bool can_see_few(const AttentionProblem& problem, std::int64_t few) {
  if (problem.q_offsets != nullptr || problem.window != 0 || problem.seq_k <= few) return true;
  return problem.causal && problem.seq_k - problem.seq_q < few;
}

inline constexpr std::size_t kWorkspaceAlignment = 16;

// What a workspace of unknown alignment needs for as many bytes.
inline std::size_t with_alignment(std::size_t bytes) {
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment - 1;
}

// The caller's workspace, aligned, or a status where there is too little of it: on a device nothing is
// allocated.
inline int take_workspace(const Call& call, const Place& place, std::size_t needed, void*& aligned) {
  aligned = place.workspace;
  std::size_t bytes = place.workspace_bytes;
  if (needed == 0) return FLASH_REF_OK;
  if (aligned != nullptr && std::align(kWorkspaceAlignment, needed, aligned, bytes) != nullptr)
    return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_WORKSPACE,
                   "options.workspace_bytes is %zu; on a CUDA device, expected at least %zu",
                   place.workspace_bytes, with_alignment(needed));
}

// The blocks of a launch, or a status where there are too many.
inline int check_blocks(const Call& call, std::int64_t blocks) {
  if (blocks <= kMostBlocks) return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_SHAPE, "the problem has %lld tiles; expected %lld at most on a CUDA device",
                   static_cast<long long>(blocks), static_cast<long long>(kMostBlocks));
}

}  // namespace flash_ref::cuda
