// The emulator itself: it has to find what it is there to find.
#include "device/primitives.h"
#include "tests/catch.h"

using namespace flash_ref;
namespace emulated = flash_ref_emulated;

namespace {

struct Nothing {};

std::string run(void (*kernel)(Nothing), int threads = 64, std::size_t shared_bytes = 4096) {
  emulated::take_error();
  device::launch(kernel, 1, threads, shared_bytes, nullptr, Nothing{});
  return emulated::take_error();
}

bool mentions(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::uint32_t word(int index) { return static_cast<std::uint32_t>(index * 4); }

}  // namespace

TEST_CASE("emulator: a word that another thread reads without a barrier is a race") {
  const auto with = [](Nothing) {
    device::store_shared4(word(device::thread()), 7);
    device::barrier();
    device::load_shared4(word(63 - device::thread()));
  };
  const auto without = [](Nothing) {
    device::store_shared4(word(device::thread()), 7);
    device::load_shared4(word(63 - device::thread()));
  };
  CHECK(run(with) == "");
  CHECK(mentions(run(without), "without a barrier"));
}

TEST_CASE("emulator: a word that is written after others read it needs a barrier too") {
  const auto kernel = [](Nothing) {
    device::load_shared4(word(0));
    if (device::thread() == 40) device::store_shared4(word(0), 1);
  };
  CHECK(mentions(run(kernel), "write after read"));
}

TEST_CASE("emulator: a warp's barrier orders a warp, not a block") {
  const auto within = [](Nothing) {
    device::store_shared4(word(device::thread()), 7);
    device::warp_barrier();
    device::load_shared4(word(device::thread() ^ 1));
  };
  const auto across = [](Nothing) {
    device::store_shared4(word(device::thread()), 7);
    device::warp_barrier();
    device::load_shared4(word(device::thread() ^ 32));
  };
  CHECK(run(within) == "");
  CHECK(mentions(run(across), "without a barrier"));
}

TEST_CASE("emulator: threads that wait for each other are told, with where they wait") {
  const auto kernel = [](Nothing) {
    if (device::thread() < 32) {
      device::barrier();
    } else {
      device::shuffle_xor(1, 1);
      if (device::thread() < 48) device::warp_barrier();
    }
  };
  const std::string error = run(kernel);
  CHECK(mentions(error, "wait for each other"));
  CHECK(mentions(error, "warp 0: 0 lanes at no instruction, 32 at the barrier"));
  CHECK(mentions(error, "warp 1: 16 lanes at the warp's barrier"));
}

TEST_CASE("emulator: memory beyond shared memory and beyond tensors is not touched") {
  CHECK(mentions(run([](Nothing) { device::load_shared4(4096); }), "a read of 4 bytes at 4096 of 4096"));
  CHECK(mentions(run([](Nothing) { device::store_shared16(8, {}); }), "a write of 16 bytes at 8"));
  static float numbers[4] = {1, 2, 3, 4};
  emulated::allow_memory(numbers, 12);
  CHECK(run([](Nothing) { device::load(numbers + 2); }) == "");
  CHECK(mentions(run([](Nothing) { device::load(numbers + 3); }), "outside of every tensor"));
  CHECK(mentions(run([](Nothing) { device::store(numbers + 3, 5.0F); }), "outside of every tensor"));
  CHECK(numbers[3] == 4);
  emulated::forbid_memory(numbers);
}

TEST_CASE("emulator: a copy has arrived when it was waited for and not before") {
  alignas(16) static std::uint32_t numbers[4] = {1, 2, 3, 4};
  static std::uint32_t early, late;
  emulated::allow_memory(numbers, sizeof numbers);
  const auto kernel = [](Nothing) {
    if (device::thread() != 0) return;
    device::copy_async(0, numbers, true);
    device::commit_copies();
    device::copy_async(16, numbers, false);
    device::commit_copies();
    early = device::load_shared4(4);
    device::wait_copies<1>();
    late = device::load_shared4(4);
    CHECK(device::load_shared4(16) == 0xffffffffU);
    device::wait_copies<0>();
    CHECK(device::load_shared4(16) == 0);
  };
  CHECK(run(kernel, 32) == "");
  CHECK(early == 0xffffffffU);
  CHECK(late == 2);
  emulated::forbid_memory(numbers);
}

TEST_CASE("emulator: a product of fragments is the product of the matrices") {
  // a[i][k] = i - k / 4, b[k][j] = k + 2 j, all exact in float16; c starts as 1.
  static float result[16][8];
  const auto kernel = [](Nothing) {
    const int lane = device::thread(), row = lane / 4, pair = lane % 4 * 2;
    const auto left = [&](int i, int k) {
      return device::pack<__half>(static_cast<float>(i) - static_cast<float>(k) / 4,
                                  static_cast<float>(i) - static_cast<float>(k + 1) / 4);
    };
    const auto right = [&](int k) {
      return device::pack<__half>(static_cast<float>(k + 2 * row), static_cast<float>(k + 1 + 2 * row));
    };
    const std::uint32_t a[4] = {left(row, pair), left(row + 8, pair), left(row, pair + 8),
                                left(row + 8, pair + 8)};
    float c[4] = {1, 1, 1, 1};
    device::multiply_add<__half>(c, a, right(pair), right(pair + 8));
    for (int i = 0; i < 4; ++i) result[row + i / 2 * 8][pair + i % 2] = c[i];
  };
  REQUIRE(run(kernel, 32) == "");
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      double sum = 1;
      for (int k = 0; k < 16; ++k) sum += (i - k / 4.0) * (k + 2 * j);
      CHECK(result[i][j] == sum);
    }
  }
}

TEST_CASE("emulator: matrices are loaded by rows and, transposed, by columns") {
  static std::uint32_t plain[32][4], transposed[32][4];
  const auto kernel = [](Nothing) {
    const int lane = device::thread();
    device::Quad row;  // row r of matrix m holds 100 m + 10 r + column
    for (int i = 0; i < 4; ++i) {
      const auto number = static_cast<std::uint32_t>(100 * (lane / 8) + 10 * (lane % 8) + 2 * i);
      row.x[i] = number | (number + 1) << 16;
    }
    const auto at = static_cast<std::uint32_t>(lane * 16);
    device::store_shared16(at, row);
    device::warp_barrier();
    device::load_matrices(plain[lane], at);
    device::load_matrices_transposed(transposed[lane], at);
  };
  REQUIRE(run(kernel, 32) == "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t m = 0; m < 4; ++m) {
      const std::uint32_t by_row = 100 * m + 10 * (lane / 4) + 2 * (lane % 4);
      const std::uint32_t by_column = 100 * m + 10 * (2 * (lane % 4)) + lane / 4;
      CHECK(plain[lane][m] == (by_row | (by_row + 1) << 16));
      CHECK(transposed[lane][m] == (by_column | (by_column + 10) << 16));
    }
  }
}

TEST_CASE("emulator: every number of both formats survives widening and rounding") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float half = device::widen<__half>(bits), brain = device::widen<__nv_bfloat16>(bits);
    if (half == half) CHECK(device::narrow<__half>(half) == bits);
    if (brain == brain) CHECK(device::narrow<__nv_bfloat16>(brain) == bits);
  }
}
