// Debian's static libstdc++ and LLVM ask libc for arc4random, which glibc has since 2.36: with a definition
// of its own the program runs on 2.34. Both want randomness alone (random_device, names of temporary files),
// which the kernel gives.
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  ssize_t got;
  do {
    got = getrandom(&number, sizeof number, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof number)) std::abort();  // the contract of arc4random: it cannot fail
  return number;
}
