// Blocks of all sizes hold what was written into them, whichever thread gives them back.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace {

struct Block {
  unsigned char* place = nullptr;
  std::size_t size = 0;
  unsigned char mark = 0;
};

Block make(std::size_t size, unsigned char mark) {
  Block out{static_cast<unsigned char*>(operator new(size)), size, mark};
  std::memset(out.place, mark, size);
  return out;
}

bool is_whole(const Block& block) {
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.place[i] != block.mark) return false;
  }
  return reinterpret_cast<std::uintptr_t>(block.place) % alignof(std::max_align_t) == 0;
}

// Makes blocks and drops some of them; how many were not what was written.
std::size_t use(std::vector<Block>& blocks, unsigned seed) {
  std::mt19937 random(seed);
  std::size_t wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t size = random() % 8 ? random() % 520 : random() % 5000;
    if (blocks.size() < 1000) blocks.push_back(make(size, static_cast<unsigned char>(random())));
    Block& one = blocks[random() % blocks.size()];
    wrong += !is_whole(one);
    operator delete(one.place);
    one = make(size, static_cast<unsigned char>(random()));
  }
  return wrong;
}

}  // namespace

TEST_CASE("blocks are apart, aligned and left alone") {
  std::vector<Block> blocks;
  CHECK(use(blocks, 1) == 0);
  for (const Block& each : blocks) {
    CHECK(is_whole(each));
    operator delete(each.place, each.size);
  }
}

TEST_CASE("a thread takes over what an ended thread made and left") {
  std::vector<std::vector<Block>> of_thread(4);
  std::vector<std::size_t> wrong(of_thread.size());
  for (unsigned round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < of_thread.size(); ++i)
      threads.emplace_back(
          [&, i] { wrong[i] += use(of_thread[(i + round) % of_thread.size()], 10 * round + i); });
    for (std::thread& each : threads) each.join();
  }
  CHECK(wrong == std::vector<std::size_t>(of_thread.size()));
  for (const std::vector<Block>& blocks : of_thread) {
    for (const Block& each : blocks) {
      CHECK(is_whole(each));
      operator delete(each.place);
    }
  }
}

TEST_CASE("what is larger than any memory is refused") {
  CHECK(operator new (std::size_t{1} << 60U, std::nothrow) == nullptr);
  CHECK_THROWS_AS(static_cast<void>(operator new (std::size_t{1} << 60U)), std::bad_alloc);
}
