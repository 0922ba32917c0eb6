#include "sanitizer/attach/pending_join.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "sanitizer/attach/stopped_thread.h"
#include "sanitizer/protocol/mailbox.h"

namespace dtype_guard::san {
namespace {

// Of a helper thread, by its name; 0 of any other.
std::uint64_t mailbox_of(pid_t process, pid_t thread) {
  std::ifstream in(fmt::format("/proc/{}/task/{}/comm", process, thread));
  std::string name;
  std::getline(in, name);
  constexpr std::string_view kPrefix = kMailboxThreadName;
  if (!name.starts_with(kPrefix)) return 0;
  std::uint64_t address = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, address, 16);
  return error == std::errc() && stop == end ? address : 0;
}

}  // namespace

std::optional<PendingJoin> find_pending_join(const ProcessFacts& process) {
  for (const pid_t thread : threads_of(process.pid)) {
    const std::uint64_t address = mailbox_of(process.pid, thread);
    Mailbox mailbox;
    if (address == 0 || !read_process_memory(thread, address, &mailbox, sizeof mailbox) ||
        std::memcmp(mailbox.magic, kMailboxMagic, sizeof mailbox.magic) != 0 ||
        mailbox.state != static_cast<std::uint32_t>(MailboxState::kWaiting))
      continue;
    return PendingJoin{address, mailbox.go != 0};
  }
  return std::nullopt;
}

}  // namespace dtype_guard::san
