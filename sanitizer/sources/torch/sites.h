// Where operators changed dtypes: operator, the dtypes that it read, the one that it gave, and the Python
// (or, without Python, C++) frames of the first time. Told apart by all of these; later times find theirs by
// hash, which costs no look at the stack's text. Kept in memory, and written to the journal when a finding
// refers to them, so that a run without findings writes none.
//
// Ordinary memory, which a forked child inherits: tensors outlive the fork with their origins. What has been
// written to the journal is known per process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/torch/origin_chain.h"

namespace dtype_guard::san::torch {

struct Step {
  static constexpr std::size_t kMostOperands = 12;
  const char* name;  // of the operator
  SiteKind kind;
  ScalarType result;
  ScalarType operands[kMostOperands];
  std::size_t operand_count;
};

struct Site {
  static constexpr std::size_t kPythonFrames = 8, kFrames = 12, kLongestName = 72;
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint32_t> is_ready;
  std::atomic<std::uint64_t> journal_of;  // the process whose journal has it
  char name[kLongestName];
  SiteKind kind;
  ScalarType result;
  ScalarType operands[Step::kMostOperands];
  std::uint32_t operand_count, python_depth, depth;
  std::uint64_t thread, time_ns;
  PythonFrame python[kPythonFrames];
  std::uintptr_t stack[kFrames];
};

class Sites {
 public:
  static constexpr std::size_t kSites = 4096, kProbes = 16, kMostUses = 1024;

  bool start();
  // 0 when there is no room for another, or for another first use.
  SiteNumber find(const Step& step);
  const Site* at(SiteNumber number) const;
  std::uint64_t without_room() const { return without_room_.load(std::memory_order_relaxed); }
  static constexpr std::size_t bytes() { return sizeof(Site) * kSites; }

  // Writes the sites of a chain that this process's journal lacks.
  void write(Process& process, Scratch& scratch, const OriginChain& chain);
  void write(Process& process, Scratch& scratch, SiteNumber number);

 private:
  Site* sites_ = nullptr;
  std::atomic<std::uint64_t> without_room_{0};
  std::atomic<std::size_t> uses_{0};
};

inline constinit Sites sites;

// Numbers in the journal, where those of other sources lie below.
inline constexpr std::uint32_t kFirstJournalSite = 1U << 20;
constexpr std::uint32_t journal_site(SiteNumber number) { return kFirstJournalSite + index_of(number); }

}  // namespace dtype_guard::san::torch
