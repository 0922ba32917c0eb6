// The steps that attention has in common forward and backward, over how numbers are stored between two steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/attention_case.h"
#include "kernels/reference/number_format.h"

namespace flash_ref::reference {

// How numbers are stored between two steps.
struct Exactly {
  using Sum = double;
  double operator()(double value) const { return value; }
};

struct Rounded {
  using Sum = float;
  NumberFormat format;
  double operator()(double value) const { return round_to(format, value); }
};

inline double scale_of(const AttentionCase& sizes) {
  if (sizes.scale != 0) return sizes.scale;
  return 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(sizes.dim, 1)));
}

// The query of one row: the keys that it sees are [begin, end), and it stands at `position` among them.
struct Row {
  std::int64_t position, begin, end;
  double slope;
  const double* mask;  // of key 0; null: none
};

inline Row row_of(const AttentionCase& sizes, const AttentionInputs& inputs, std::int64_t batch,
                  std::int64_t head, std::int64_t query) {
  const std::int64_t head_row = batch * sizes.heads + head;
  Row row{query + sizes.seq_k - sizes.seq_q, 0, sizes.seq_k, 0, nullptr};
  if (!inputs.slopes.empty()) row.slope = inputs.slopes[static_cast<std::size_t>(head_row)];
  if (!inputs.mask.empty()) row.mask = inputs.mask.data() + (head_row * sizes.seq_q + query) * sizes.seq_k;
  if (sizes.causal) row.end = std::clamp<std::int64_t>(row.position + 1, 0, sizes.seq_k);
  if (sizes.window != 0) {
    row.begin = std::max<std::int64_t>(row.position - sizes.window + 1, 0);
    row.end = std::min(row.end, row.position + sizes.window);
  }
  row.end = std::max(row.begin, row.end);
  return row;
}

// The rows of one head of a tensor (batch, rows, heads, dim), column by column: products with a vector are
// then summed for many rows at once, each in the order of its columns.
class Columns {
 public:
  Columns(const std::vector<double>& all, std::int64_t batch, std::int64_t rows, std::int64_t heads,
          std::int64_t head, std::int64_t dim)
      : rows_(rows), dim_(dim), numbers_(static_cast<std::size_t>(rows * dim)) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const double* from = all.data() + ((batch * rows + row) * heads + head) * dim;
      for (std::int64_t d = 0; d < dim; ++d) numbers_[static_cast<std::size_t>(d * rows + row)] = from[d];
    }
  }

  // The products of `vector` with rows [begin, end).
  template <class Step>
  std::vector<double> times(const double* vector, std::int64_t begin, std::int64_t end, Step step) const {
    using Sum = typename Step::Sum;
    std::vector<Sum> sums(static_cast<std::size_t>(end - begin));
    for (std::int64_t d = 0; d < dim_; ++d) {
      const double* column = numbers_.data() + d * rows_ + begin;
      for (std::size_t j = 0; j < sums.size(); ++j)
        sums[j] = static_cast<Sum>(sums[j] + vector[d] * column[j]);
    }
    std::vector<double> result(sums.begin(), sums.end());
    for (double& sum : result) sum = step(sum);
    return result;
  }

 private:
  std::int64_t rows_, dim_;
  std::vector<double> numbers_;
};

// The scores of one query from its products with the scaled keys.
template <class Step>
std::vector<double> scores_of(const AttentionCase& sizes, std::vector<double> products, const Row& row,
                              Step step) {
  for (std::int64_t j = row.begin; j < row.end; ++j) {
    double& score = products[static_cast<std::size_t>(j - row.begin)];
    if (sizes.softcap != 0) score = step(sizes.softcap * std::tanh(score / sizes.softcap));
    if (row.slope != 0) score = step(score - row.slope * std::abs(static_cast<double>(row.position - j)));
    if (row.mask != nullptr) score = step(score + row.mask[j]);
  }
  return products;
}

// Scores in, probabilities out; returns the log of the sum of exponentials.
template <class Step>
double softmax(std::vector<double>& scores, Step step) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  double maximum = kNothing;
  for (double score : scores) maximum = std::max(maximum, score);
  if (maximum == kNothing) maximum = 0;
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - maximum);
  for (double& score : scores) score = sum == 0 ? 0 : step(score / sum);
  return sum == 0 ? kNothing : maximum + std::log(sum);
}

}  // namespace flash_ref::reference
