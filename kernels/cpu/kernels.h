// The CPU backend: each kernel solves one checked problem. A kernel works in pieces that share nothing,
// spread over `threads` threads; a piece of attention needs scratch memory, which the caller provides per
// thread.
#pragma once

#include <cstddef>

#include "kernels/call/kvcache_problem.h"

namespace flash_ref::cpu {

// Scratch of one thread in bytes, a multiple of 64; 0 if there is nothing to compute.
std::size_t attention_scratch_bytes(const AttentionProblem& problem);
// Memory that all threads share besides, also a multiple of 64.
std::size_t attention_shared_bytes(const AttentionProblem& problem);
// How many threads pay off: at most one per tile, and one only for small problems.
int attention_threads(const AttentionProblem& problem);
// `scratch` is aligned to 64 bytes and holds attention_shared_bytes(problem) and
// threads * attention_scratch_bytes(problem).
void attention_fwd(const AttentionProblem& problem, void* scratch, int threads);

// As for attention_fwd; what threads share is a float for each element of q, and some for each row.
std::size_t attention_bwd_scratch_bytes(const AttentionBackward& problem);
std::size_t attention_bwd_shared_bytes(const AttentionBackward& problem);
int attention_bwd_threads(const AttentionBackward& problem);
void attention_bwd(const AttentionBackward& problem, void* scratch, int threads);
// As for attention. New keys and values are stored in the cache.
std::size_t kvcache_scratch_bytes(const KvCacheProblem& problem);
std::size_t kvcache_shared_bytes(const KvCacheProblem& problem);
int kvcache_threads(const KvCacheProblem& problem);
void attention_kvcache(const KvCacheProblem& problem, void* memory, int threads);

// As for attention.
std::size_t rwkv7_scratch_bytes(const Rwkv7Problem& problem);
int rwkv7_threads(const Rwkv7Problem& problem);
void rwkv7_fwd(const Rwkv7Problem& problem, void* scratch, int threads);

// As for attention; scratch grows with the sequence: it keeps a state for each of its chunks.
std::size_t rwkv7_bwd_scratch_bytes(const Rwkv7Backward& problem);
int rwkv7_bwd_threads(const Rwkv7Backward& problem);
void rwkv7_bwd(const Rwkv7Backward& problem, void* scratch, int threads);

void rotary(const RotaryProblem& problem);

}  // namespace flash_ref::cpu
