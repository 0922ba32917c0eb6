// libFuzzer's entry; FUZZ_TARGET is fuzz_journal, fuzz_options or fuzz_probe.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dtype_guard::san::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
