// Rotary embedding. Memory decides, so a thread does one unit: the two halves of eight pairs (or four pairs
// that lie interleaved), or eight elements behind the rotated ones, which are copied as bits. A block takes
// some positions with all their heads, whose rows of the tables stay in the cache.
#pragma once

#include "kernels/cuda/numbers.h"
#include "kernels/cuda/rotary_launch.h"

namespace flash_ref {

template <class X, class Table, class Out>
class Rotation {
 public:
  FLASH_REF_DEVICE explicit Rotation(const RotaryLaunch& launch)
      : launch_(launch), problem_(launch.problem) {}

  FLASH_REF_DEVICE void run() {
    const auto per_sequence = static_cast<unsigned>(launch_.blocks_of_sequence);
    batch_ = device::block() / per_sequence;
    const std::int64_t first = std::int64_t{device::block() % per_sequence} * launch_.positions;
    const std::int64_t left = problem_.seq - first;
    const auto positions = static_cast<int>(left < launch_.positions ? left : launch_.positions);
    const auto heads = static_cast<int>(problem_.heads);
    const int units = launch_.rotating_units + launch_.copying_units;
#pragma unroll 1
    for (int i = device::thread(); i < positions * heads * units; i += kRotaryThreads) {
      const int unit = i % units, row = i / units;
      do_unit(first + row / heads, row % heads, unit);
    }
  }

 private:
  FLASH_REF_DEVICE void do_unit(std::int64_t position, int head, int unit) const {
    const auto at = [&](const Strides4& s) { return batch_ * s[0] + position * s[1] + head * s[2]; };
    const auto* x = static_cast<const Storage<X>*>(problem_.x) + at(problem_.x_strides);
    auto* out = static_cast<Storage<Out>*>(problem_.out) + at(problem_.out_strides);
    if (unit >= launch_.rotating_units) return copy(x, out, (unit - launch_.rotating_units) * 8);
    const std::int64_t place = table_row(position);
    const auto* cos = static_cast<const Storage<Table>*>(problem_.cos) + place * problem_.cos_strides[0];
    const auto* sin = static_cast<const Storage<Table>*>(problem_.sin) + place * problem_.sin_strides[0];
    if (problem_.interleaved) {
      rotate_neighbours(x, out, cos, sin, unit * 8);
    } else {
      rotate_halves(x, out, cos, sin, unit * 8);
    }
  }

  // What the device's offsets say beyond the tables is cut off.
  FLASH_REF_DEVICE std::int64_t table_row(std::int64_t position) const {
    const std::int64_t offset = problem_.offsets == nullptr
                                    ? problem_.offset
                                    : device::load(problem_.offsets + batch_ * problem_.offsets_stride);
    const std::int64_t row = position + offset, last = problem_.table_rows - 1;
    return row < 0 ? 0 : row > last ? last : row;
  }

  FLASH_REF_DEVICE void rotate(float& a, float& b, float cos, float sin) const {
    rotate_pair(a, b, cos, problem_.conjugate ? -sin : sin);
  }

  FLASH_REF_DEVICE void rotate_halves(const Storage<X>* x, Storage<Out>* out, const Storage<Table>* cos,
                                      const Storage<Table>* sin, int first) const {
    const auto pairs = static_cast<int>(problem_.pairs);
    const int count = pairs - first;
    const std::int64_t from = problem_.x_strides[3], to = problem_.out_strides[3];
    float a[8], b[8], c[8], s[8];
    load_eight<X>(a, x + first * from, from, count, launch_.x_in_chunks);
    load_eight<X>(b, x + (pairs + first) * from, from, count, launch_.x_in_chunks);
    load_eight<Table>(c, cos + first * problem_.cos_strides[1], problem_.cos_strides[1], count,
                      launch_.tables_in_chunks);
    load_eight<Table>(s, sin + first * problem_.sin_strides[1], problem_.sin_strides[1], count,
                      launch_.tables_in_chunks);
#pragma unroll
    for (int i = 0; i < 8; ++i) rotate(a[i], b[i], c[i], s[i]);
    store_eight<Out>(out + first * to, a, to, count, launch_.out_in_chunks);
    store_eight<Out>(out + (pairs + first) * to, b, to, count, launch_.out_in_chunks);
  }

  FLASH_REF_DEVICE void rotate_neighbours(const Storage<X>* x, Storage<Out>* out, const Storage<Table>* cos,
                                          const Storage<Table>* sin, int first) const {
    const int count = static_cast<int>(problem_.pairs) * 2 - first;
    const std::int64_t from = problem_.x_strides[3], to = problem_.out_strides[3];
    float y[8];
    load_eight<X>(y, x + first * from, from, count, launch_.x_in_chunks);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (2 * i >= count) break;
      const int pair = first / 2 + i;
      rotate(y[2 * i], y[2 * i + 1], Number<Table>::widen(device::load(cos + pair * problem_.cos_strides[1])),
             Number<Table>::widen(device::load(sin + pair * problem_.sin_strides[1])));
    }
    store_eight<Out>(out + first * to, y, to, count, launch_.out_in_chunks);
  }

  FLASH_REF_DEVICE void copy(const Storage<X>* x, Storage<Out>* out, int after) const {
    const int first = static_cast<int>(problem_.pairs) * 2 + after;
    const int count = smaller_count(static_cast<int>(problem_.dim) - first);
    if (launch_.tail_in_chunks) {
#pragma unroll
      for (int i = 0; i < 8; i += 16 / static_cast<int>(sizeof(Storage<X>)))
        device::store16(out + first + i, device::load16(x + first + i));
      return;
    }
    for (int i = 0; i < count; ++i) {
      device::store(out + (first + i) * problem_.out_strides[3],
                    device::load(x + (first + i) * problem_.x_strides[3]));
    }
  }

  FLASH_REF_DEVICE static int smaller_count(int count) { return count < 8 ? count : 8; }

  const RotaryLaunch& launch_;
  const RotaryProblem& problem_;
  std::int64_t batch_ = 0;
};

template <class X, class Table, class Out>
FLASH_REF_KERNEL(kRotaryThreads, 4)
rotary_kernel(FLASH_REF_PARAMETER RotaryLaunch launch) {
  Rotation<X, Table, Out>(launch).run();
}

template <class T>
int launch_rotary(const RotaryLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(rotary_kernel<T, T, T>, blocks, kRotaryThreads, 0, stream, launch);
}

}  // namespace flash_ref
