// C += A B on small row-major float tiles: the one place where attention spends its time. Four rows of B are
// folded into a row of C per pass, so that C is loaded and stored once per four multiply-adds.
#pragma once

#include <cstdint>

namespace flash_ref {

// A is rows x depth, B depth x columns, C rows x columns; each with the distance between its rows.
void add_product(const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride, float* c,
                 std::int64_t c_stride, std::int64_t rows, std::int64_t depth, std::int64_t columns);

}  // namespace flash_ref
