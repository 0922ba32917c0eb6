// The bytes that kernels may touch: those of the tensors of the test that runs.
#include <cstdio>

#include "tests/emulated/block.h"

namespace flash_ref_emulated {
namespace {

using Address = std::uintptr_t;

std::map<Address, Address> ranges;  // from the first byte to the one after the last
Address recent_begin = 1, recent_end = 0;

}  // namespace

void allow_memory(const void* begin, std::size_t bytes) {
  if (bytes == 0) return;
  const auto first = reinterpret_cast<Address>(begin);
  ranges[first] = first + bytes;
}

void forbid_memory(const void* begin) {
  ranges.erase(reinterpret_cast<Address>(begin));
  recent_begin = 1;
  recent_end = 0;
}

bool check_memory(const void* at, std::size_t bytes, const char* what) {
  const auto first = reinterpret_cast<Address>(at);
  if (first % bytes != 0) report(std::string(what) + " at an address that its size does not divide");
  if (first >= recent_begin && first + bytes <= recent_end) return true;
  auto range = ranges.upper_bound(first);
  if (range != ranges.begin() && first + bytes <= (--range)->second) {
    recent_begin = range->first;
    recent_end = range->second;
    return true;
  }
  report(std::string(what) + " of " + std::to_string(bytes) + " bytes outside of every tensor, by thread " +
         std::to_string(thread_index()) + " of block " + std::to_string(block_index()));
  return false;
}

}  // namespace flash_ref_emulated
