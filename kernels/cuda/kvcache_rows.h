// Where the keys and values of a sequence lie in a cache, and positions that are rotated.
#pragma once

#include "kernels/cuda/kvcache_launch.h"
#include "kernels/cuda/numbers.h"
#include "kernels/cuda/scores.h"
#include "kernels/cuda/tile.h"

namespace flash_ref {

// One sequence of a problem; what the device's numbers say beyond the cache is cut off.
struct CachedSequence {
  int cached, length;  // keys before and after the new ones

  FLASH_REF_DEVICE CachedSequence(const KvCacheProblem& problem, std::int64_t batch) {
    const std::int64_t capacity = problem.attention.seq_k;
    const std::int64_t given =
        problem.cached == nullptr ? capacity : device::load(problem.cached + batch * problem.cached_stride);
    cached = clamp_to(given, 0, capacity);
    length = clamp_to(given + problem.seq_new, 0, capacity);
  }
};

// The rows of one kv head of one sequence, in pages.
struct PagedRows {
  const std::uint16_t* base;  // of page 0
  std::int64_t row_stride, dim_stride, page_stride;
  const std::int32_t* table;  // of the sequence; null: its page is the batch's
  std::int64_t table_stride;
  int page_size, pages, batch, count, first;
  const std::uint16_t* near = nullptr;  // the row `first`, where it and those after it lie in one page
  int near_rows = 0;

  FLASH_REF_DEVICE PagedRows(const KvCacheProblem& problem, const void* cache, const Strides4& strides,
                             std::int64_t sequence, std::int64_t kv_head, int rows)
      : base(static_cast<const std::uint16_t*>(cache) + kv_head * strides[2]),
        row_stride(strides[1]),
        dim_stride(strides[3]),
        page_stride(strides[0]),
        table(problem.pages == nullptr ? nullptr : problem.pages + sequence * problem.pages_strides[0]),
        table_stride(problem.pages_strides[1]),
        page_size(static_cast<int>(problem.page_size)),
        pages(static_cast<int>(problem.cache_pages)),
        batch(static_cast<int>(sequence)),
        count(rows),
        first(0) {}

  FLASH_REF_DEVICE const std::uint16_t* row(int i) const {
    if (i >= count) return nullptr;
    const int number = i / page_size;
    const int page = table == nullptr ? batch : device::load(table + number * table_stride);
    if (page < 0 || page >= pages) return nullptr;
    return base + page * page_stride + (i - number * page_size) * row_stride;
  }
  // The page is looked up once for the rows that lie in it: dividing by its size for each copied chunk would
  // take longer than the copy.
  FLASH_REF_DEVICE PagedRows from(int start) const {
    PagedRows rows = *this;
    rows.first = start;
    rows.near = row(start);
    const int in_page = page_size - start % page_size, in_all = count - start;
    rows.near_rows = rows.near == nullptr ? 0 : in_page < in_all ? in_page : in_all;
    return rows;
  }
  FLASH_REF_DEVICE const std::uint16_t* near_row(int i) const {
    return i < near_rows ? near + i * row_stride : row(first + i);
  }
};

// A row's rotation: the tables of one position.
template <class T>
class RotatedRow {
 public:
  FLASH_REF_DEVICE RotatedRow(const KvCacheProblem& problem, std::int64_t position)
      : pairs_(static_cast<int>(problem.pairs)), interleaved_(problem.interleaved) {
    const std::int64_t last = problem.table_rows - 1, row = position < last ? position : last;
    cos_ = static_cast<const std::uint16_t*>(problem.cos) + row * problem.cos_strides[0];
    sin_ = static_cast<const std::uint16_t*>(problem.sin) + row * problem.sin_strides[0];
    cos_step_ = problem.cos_strides[1];
    sin_step_ = problem.sin_strides[1];
  }

  // Number `column` of the rotated row; as bits, rounded to T.
  FLASH_REF_DEVICE std::uint16_t number(const std::uint16_t* row, std::int64_t stride, int column) const {
    const std::uint16_t bits = device::load(row + column * stride);
    if (column >= 2 * pairs_) return bits;
    const int pair = interleaved_ ? column / 2 : column % pairs_;
    const bool second = interleaved_ ? column % 2 != 0 : column >= pairs_;
    const int partner = interleaved_ ? column ^ 1 : second ? column - pairs_ : column + pairs_;
    float a = device::widen<T>(bits), b = device::widen<T>(device::load(row + partner * stride));
    if (second) {
      const float own = a;
      a = b;
      b = own;
    }
    rotate_pair(a, b, device::widen<T>(device::load(cos_ + pair * cos_step_)),
                device::widen<T>(device::load(sin_ + pair * sin_step_)));
    return Number<T>::narrow(second ? b : a);
  }

 private:
  const std::uint16_t *cos_, *sin_;
  std::int64_t cos_step_, sin_step_;
  int pairs_;
  bool interleaved_;
};

}  // namespace flash_ref
