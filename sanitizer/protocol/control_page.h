// The switch of a watched process: one page in an anonymous file (memfd) that the process keeps open and
// maps. Another process of the same user finds it among /proc/PID/fd by its name and writes to it; that needs
// no ptrace rights. The file is sealed against shrinking, so that no write from outside can make the job's
// reads fault. Where the process has closed that descriptor, or its limit leaves no room for one, the page is
// found among its mappings; that needs the right to ptrace.
#pragma once

#include <atomic>
#include <cstdint>

namespace dtype_guard::san {

inline constexpr char kControlName[] = "dtype-san-control";
inline constexpr char kControlMagic[16] = "dtype-san-ctl-1";

struct ControlPage {
  char magic[sizeof kControlMagic];
  std::uint32_t version;
  std::atomic<std::uint32_t> on;  // 1: calls are watched
  char library_version[32];
  // Of later versions; 0 where the library is older.
  std::uint32_t owner;  // process id: a child that was forked in an unseen way has its parent's page
  char journal[1024];   // the file; empty until there is one
  char problem[256];    // why findings are not recorded; empty: they are
};
static_assert(sizeof(ControlPage) <= 4096);

}  // namespace dtype_guard::san
