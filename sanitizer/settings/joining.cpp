#include "sanitizer/settings/joining.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san {

Mailbox* joining_mailbox() {
  constexpr std::size_t kPrefix = sizeof kMailboxThreadName - 1;
  char name[16] = {};
  if (syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0) != 0) return nullptr;
  if (memcmp(name, kMailboxThreadName, kPrefix) != 0) return nullptr;
  std::uint64_t address = 0;
  for (std::size_t i = kPrefix; i + 1 < sizeof name; ++i) {
    const char c = name[i];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return nullptr;
    address = address << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  // A thread may bear such a name by chance: the address is looked at before it is trusted.
  char magic[sizeof kMailboxMagic];
  auto* mailbox = reinterpret_cast<Mailbox*>(address);
  if (!read_memory(mailbox, magic, sizeof magic) || memcmp(magic, kMailboxMagic, sizeof magic) != 0)
    return nullptr;
  return mailbox;
}

}  // namespace dtype_guard::san
