// A tile is some rows of a matrix of 16-bit numbers in shared memory. A row is cut into chunks of 16 bytes,
// what cp.async copies and a row of ldmatrix has; chunks are permuted within their row ("swizzled") so that
// eight rows of one ldmatrix lie in eight different groups of banks.
#pragma once

#include "device/primitives.h"

namespace flash_ref {

template <int kDim>
struct Tile {
  static_assert(kDim % 32 == 0, "a row is a multiple of four chunks");
  static constexpr int kChunks = kDim / 8;

  // Of 64, 128 or 256 numbers every row begins at bank 0; of 96 or 32 numbers every second one does.
  FLASH_REF_DEVICE static std::uint32_t offset(int row, int chunk) {
    const int swizzle = kChunks % 8 == 0 ? row & 7 : row >> 1 & 3;
    return static_cast<std::uint32_t>((row * kChunks + (chunk ^ swizzle)) * 16);
  }
  static constexpr int kRowBytes = kDim * 2;

  // The same for a lane of a warp: the row is `row`, a multiple of 8, and `lane_row` on, the chunk is
  // `chunk`, even and known to the compiler, and `lane_chunk`, 0 or 1, on. Said like this, lanes hold a few
  // addresses for all chunks of a row, and constants tell the others.
  FLASH_REF_DEVICE static std::uint32_t lane_offset(int row, int lane_row, int chunk, int lane_chunk) {
    constexpr int kPermuted = kChunks % 8 == 0 ? 8 : 4;
    const int swizzle = kChunks % 8 == 0 ? lane_row & 7 : lane_row >> 1 & 3;
    const int within = (lane_chunk ^ swizzle) ^ chunk % kPermuted;
    return static_cast<std::uint32_t>((lane_row * kChunks + within) * 16) +
           static_cast<std::uint32_t>((row * kChunks + chunk / kPermuted * kPermuted) * 16);
  }

  // The 16 x 16 block of a product's left side at (row, 8 * chunk).
  FLASH_REF_DEVICE static void load_left(std::uint32_t (&a)[4], std::uint32_t tile, int row, int chunk) {
    const int lane = device::thread() % 32;
    device::load_matrices(a, tile + lane_offset(row, lane % 16, chunk, lane / 16));
  }
  // Two 16 x 8 blocks of a right side whose columns are the tile's rows from `row` on: a transposed product.
  FLASH_REF_DEVICE static void load_right_transposed(std::uint32_t (&b)[4], std::uint32_t tile, int row,
                                                     int chunk) {
    const int lane = device::thread() % 32;
    device::load_matrices(b, tile + lane_offset(row, lane / 16 * 8 + lane % 8, chunk, lane / 8 % 2));
  }
  // Two 16 x 8 blocks of a right side whose rows are the tile's rows, side by side from `chunk` on.
  FLASH_REF_DEVICE static void load_right(std::uint32_t (&b)[4], std::uint32_t tile, int row, int chunk) {
    const int lane = device::thread() % 32;
    device::load_matrices_transposed(b, tile + lane_offset(row, lane % 16, chunk, lane / 16));
  }
};

// The rows of one head of one sequence in memory. A tile's rows are told apart by 32 bits where chunks are
// copied: the host sees to it that these strides are small.
struct MatrixRows {
  const std::uint16_t* base;
  std::int64_t row_stride, dim_stride;
  int count;  // beyond it rows are zeros

  FLASH_REF_DEVICE const std::uint16_t* row(int i) const {
    return i < count ? base + i * row_stride : nullptr;
  }
  FLASH_REF_DEVICE MatrixRows from(int first) const {
    return {base + first * row_stride, row_stride, dim_stride, count - first};
  }
  FLASH_REF_DEVICE const std::uint16_t* near_row(int i) const {
    return i < count ? base + i * static_cast<int>(row_stride) : nullptr;
  }
};

// Eight numbers from `column` on, one by one: for strides and places that 16 bytes do not divide.
FLASH_REF_DEVICE device::Quad gather(const std::uint16_t* row, std::int64_t stride, int column, int dim) {
  device::Quad q;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const bool present = row != nullptr && column + i < dim;
    const std::uint32_t bits = present ? device::load(row + (column + i) * stride) : 0U;
    q.x[i / 2] = i % 2 == 0 ? bits : q.x[i / 2] | bits << 16;
  }
  return q;
}

// Stores those of eight numbers that a row of `dim` has, from `column` on.
FLASH_REF_DEVICE void store_chunk(std::uint16_t* row, std::int64_t stride, int column, int dim,
                                  bool in_chunks, const device::Quad& q) {
  if (column >= dim) return;
  if (in_chunks) return device::store16(row + column, q);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t bits = q.x[i / 2] >> i % 2 * 16;
    if (column + i < dim) device::store(row + (column + i) * stride, static_cast<std::uint16_t>(bits));
  }
}

// Starts to fill a tile with rows.row(first) and those after it; `in_chunks` says that 16 bytes can be
// copied at a time.
template <int kDim, int kRows, int kThreads, class Rows>
FLASH_REF_DEVICE void start_tile(std::uint32_t tile, const Rows& rows, int first, int dim, bool in_chunks) {
  constexpr int kChunks = Tile<kDim>::kChunks;
  static_assert(kRows * kChunks % kThreads == 0, "all threads copy as many chunks");
  if (in_chunks) {
    const auto near = rows.from(first);
#pragma unroll 1
    for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
      const int index = i * kThreads + device::thread(), row = index / kChunks, chunk = index % kChunks;
      const std::uint16_t* from = near.near_row(row);
      const bool present = from != nullptr && chunk * 8 < dim;
      device::copy_async(tile + Tile<kDim>::offset(row, chunk), present ? from + chunk * 8 : rows.base,
                         present);
    }
    return;
  }
#pragma unroll 1
  for (int index = device::thread(); index < kRows * kChunks; index += kThreads) {
    const int row = index / kChunks, chunk = index % kChunks;
    device::store_shared16(tile + Tile<kDim>::offset(row, chunk),
                           gather(rows.row(first + row), rows.dim_stride, chunk * 8, dim));
  }
}

}  // namespace flash_ref
