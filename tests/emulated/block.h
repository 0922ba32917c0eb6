// A block of a kernel, on the host: each of its threads is a fiber, and a fiber gives way only where a thread
// of a GPU would wait, at a barrier or an instruction that a whole warp does together. What hardware leaves
// to chance is made to go wrong: an asynchronous copy arrives at the last moment and until then its target
// holds NaNs, and two threads that touch one word of shared memory without a barrier between are an error,
// as are threads that wait for each other, words outside of shared memory and bytes outside of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace flash_ref_emulated {

inline constexpr int kLanes = 32;

// The first thing that went wrong since the last call; "" if nothing did.
std::string take_error();
void report(const std::string& error);

// What all kernels so far did, for tests of tiling.
struct Counters {
  std::uint64_t matrix_loads = 0;      // of 8 rows each
  std::uint64_t matrix_conflicts = 0;  // two rows of one load in the same banks
  std::uint64_t products = 0;          // of matrices
  std::uint64_t launches = 0, blocks = 0;
};
Counters& counters();

// The memory of tensors: only these bytes can be read and written by a kernel.
void allow_memory(const void* begin, std::size_t bytes);
void forbid_memory(const void* begin);
bool check_memory(const void* at, std::size_t bytes, const char* what);

// Runs `body` as `threads` threads.
void run_block(unsigned index, int threads, std::size_t shared_bytes, const std::function<void()>& body);

// Of the running thread.
int thread_index();
unsigned block_index();

// Waits until all threads have come; true if any brought true.
bool block_barrier(bool mine);

// Waits until all lanes of the warp have come to the same place, the last of which calls
// resolve(what each lane brought).
void with_warp(const char* place, void* mine, void (*resolve)(void* const* all));
void warp_barrier();

// Checked access to shared memory.
void read_shared(std::uint32_t from, void* to, std::uint32_t bytes);
void write_shared(std::uint32_t to, const void* from, std::uint32_t bytes);
void start_copy(std::uint32_t to, const void* from, bool present);
void commit_copies();
void wait_copies(int left);

}  // namespace flash_ref_emulated
