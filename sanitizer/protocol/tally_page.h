// What `dtype-san run` must know even of processes that can write nothing: how many journals were begun, and
// what was lost. One page in an anonymous file of the command, which every process maps while it is loaded;
// from then on it takes no descriptor, no file and no right to tell of a loss.
#pragma once

#include <atomic>
#include <cstdint>

namespace dtype_guard::san {

inline constexpr char kTallyName[] = "dtype-san-tally";
inline constexpr char kTallyVariable[] = "DTYPE_SAN_TALLY";  // its path below /proc
inline constexpr char kTallyMagic[16] = "dtype-san-tly-1";

struct TallyPage {
  char magic[sizeof kTallyMagic];
  std::atomic<std::uint64_t> journals;       // begun
  std::atomic<std::uint64_t> without;        // processes that could begin none
  std::atomic<std::uint64_t> findings;       // distinct ones that could not be written
  std::atomic<std::uint32_t> without_error;  // errno of the first process without a journal
  std::atomic<std::uint32_t> error;          // of the first finding that was lost
};
static_assert(sizeof(TallyPage) <= 4096);

}  // namespace dtype_guard::san
