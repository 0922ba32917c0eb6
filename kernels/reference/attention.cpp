#include "kernels/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flash_ref::reference {
namespace {

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

double scale_of(const AttentionCase& sizes) {
  if (sizes.scale != 0) return sizes.scale;
  return 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(sizes.dim, 1)));
}

// The query of one row: the keys that it sees are [begin, end), and it stands at `position` among them.
struct Row {
  std::int64_t position, begin, end;
  double slope;
};

Row row_of(const AttentionCase& sizes, std::int64_t query, double slope) {
  Row row{query + sizes.seq_k - sizes.seq_q, 0, sizes.seq_k, slope};
  if (sizes.causal) row.end = std::clamp<std::int64_t>(row.position + 1, 0, sizes.seq_k);
  if (sizes.window != 0) {
    row.begin = std::max<std::int64_t>(row.position - sizes.window + 1, 0);
    row.end = std::min(row.end, row.position + sizes.window);
  }
  row.end = std::max(row.begin, row.end);
  return row;
}

template <class Step>
std::vector<double> scores_of(const AttentionCase& sizes, const double* q, const double* keys, const Row& row,
                              Step step) {
  std::vector<double> scores;
  for (std::int64_t j = row.begin; j < row.end; ++j) {
    typename Step::Sum sum = 0;
    for (std::int64_t d = 0; d < sizes.dim; ++d) {
      sum = static_cast<typename Step::Sum>(sum + q[d] * keys[j * sizes.kv_heads * sizes.dim + d]);
    }
    double score = step(sum);
    if (sizes.softcap != 0) score = step(sizes.softcap * std::tanh(score / sizes.softcap));
    if (row.slope != 0) score = step(score - row.slope * std::abs(static_cast<double>(row.position - j)));
    scores.push_back(score);
  }
  return scores;
}

// Scores in, probabilities out; returns the log of the sum of exponentials.
template <class Step>
double softmax(std::vector<double>& scores, Step step) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  double maximum = kNothing;
  for (double score : scores) maximum = std::max(maximum, score);
  if (maximum == kNothing) maximum = 0;
  double sum = 0;
  for (double score : scores) sum += std::exp(score - maximum);
  for (double& score : scores) score = sum == 0 ? 0 : step(std::exp(score - maximum) / sum);
  return sum == 0 ? kNothing : maximum + std::log(sum);
}

template <class Step>
void attend(const AttentionCase& sizes, const std::vector<double>& probabilities, const double* values,
            double* out, Step step) {
  for (std::int64_t d = 0; d < sizes.dim; ++d) {
    typename Step::Sum sum = 0;
    for (std::size_t j = 0; j < probabilities.size(); ++j) {
      const double value = values[static_cast<std::int64_t>(j) * sizes.kv_heads * sizes.dim + d];
      sum = static_cast<typename Step::Sum>(sum + probabilities[j] * value);
    }
    out[d] = step(sum);
  }
}

template <class Step>
AttentionResult attention(const AttentionCase& sizes, const AttentionInputs& inputs, Step step) {
  AttentionResult result;
  result.out.resize(inputs.q.size());
  std::vector<double> keys = inputs.k;
  for (double& key : keys) key = step(key * scale_of(sizes));
  for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      const std::int64_t kv_head = head / (sizes.heads / sizes.kv_heads);
      const std::int64_t kv_start = (batch * sizes.seq_k * sizes.kv_heads + kv_head) * sizes.dim;
      for (std::int64_t i = 0; i < sizes.seq_q; ++i) {
        const std::int64_t q_start = ((batch * sizes.seq_q + i) * sizes.heads + head) * sizes.dim;
        const double slope =
            inputs.slopes.empty() ? 0 : inputs.slopes[static_cast<std::size_t>(batch * sizes.heads + head)];
        const Row row = row_of(sizes, i, slope);
        auto scores = scores_of(sizes, inputs.q.data() + q_start, keys.data() + kv_start, row, step);
        result.lse.push_back(softmax(scores, step));
        const double* values = inputs.v.data() + kv_start + row.begin * sizes.kv_heads * sizes.dim;
        attend(sizes, scores, values, result.out.data() + q_start, step);
      }
    }
  }
  return result;
}

}  // namespace

AttentionResult attention_fp64(const AttentionCase& sizes, const AttentionInputs& inputs) {
  return attention(sizes, inputs, Exactly{});
}

AttentionResult attention_naive(const AttentionCase& sizes, const AttentionInputs& inputs,
                                NumberFormat format) {
  return attention(sizes, inputs, Rounded{format});
}

}  // namespace flash_ref::reference
