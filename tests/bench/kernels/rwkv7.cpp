// RWKV-7 on one thread, against one core's peak. Forward counts as 9 d^2 flops per token and head: the decay,
// S a, the two outer products and S r. Backward counts 26: 7 of them for the states again.
#include <cmath>

#include "tests/bench/kernels/arrays.h"
#include "tests/bench/kernels/measure.h"
#include "tests/bench/kernels/report.h"

namespace bench {
namespace {

struct Rwkv7 {
  explicit Rwkv7(std::int64_t seq) {
    for (Array& array : sequences) array.resize({1, seq, kHeads, kDim}, kFloat32);
    std::uint32_t seed = 0;
    for (int i = 0; i < kInputs; ++i) {
      std::mt19937 random(++seed);
      std::uniform_real_distribution<float> uniform(-0.125F, 0.125F);
      auto* numbers = reinterpret_cast<float*>(sequences[i].memory.data());
      for (std::size_t j = 0; j < sequences[i].memory.size() / sizeof(float); ++j) {
        numbers[j] = i == 1 ? -0.3F + uniform(random) : uniform(random);
      }
    }
  }
  DLTensor* at(int i) { return &sequences[i].tensor; }

  static constexpr std::int64_t kHeads = 4, kDim = 64;
  static constexpr int kInputs = 7;  // r, w, k, v, a, b, dout; then out and the six gradients
  Array sequences[kInputs + 7];
};

void print(const char* what, double flops, double peak, const Rival& rival) {
  std::printf("%-9s head size 64  %6.1f GFLOP/s  %5.1f %% of one core's FMA peak (%.1f)  median %+5.1f %%\n",
              what, flops / rival.best / 1e9, 100 * flops / rival.best / peak, peak / 1e9,
              rival.median_distance());
}

}  // namespace

void rwkv7() {
  constexpr std::int64_t kSeq = 1024;
  Rwkv7 t(kSeq);
  const double peak = peak_of_fma(1);
  std::vector<Rival> rivals = {
      {"fwd",
       [&] {
         require(flash_ref_rwkv7_fwd(t.at(0), t.at(1), t.at(2), t.at(3), t.at(4), t.at(5), nullptr, t.at(7),
                                     nullptr, nullptr));
       }},
      {"bwd", [&] {
         require(flash_ref_rwkv7_bwd(t.at(0), t.at(1), t.at(2), t.at(3), t.at(4), t.at(5), nullptr, t.at(6),
                                     nullptr, t.at(8), t.at(9), t.at(10), t.at(11), t.at(12), t.at(13),
                                     nullptr, nullptr));
       }}};
  take_turns(rivals, 10, 1.0);
  const double squares = static_cast<double>(kSeq * Rwkv7::kHeads * Rwkv7::kDim * Rwkv7::kDim);
  print("rwkv7 fwd", 9 * squares, peak, rivals[0]);
  print("rwkv7 bwd", 26 * squares, peak, rivals[1]);
}

}  // namespace bench
