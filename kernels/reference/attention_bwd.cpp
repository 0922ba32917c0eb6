#include "kernels/reference/attention_bwd.h"

#include "kernels/reference/attention_rows.h"

namespace flash_ref::reference {
namespace {

// One head of a tensor (batch, rows, heads, dim).
struct Head {
  std::int64_t start, step, dim;
  Head(std::int64_t batch, std::int64_t rows, std::int64_t heads, std::int64_t head, std::int64_t head_dim)
      : start((batch * rows * heads + head) * head_dim), step(heads * head_dim), dim(head_dim) {}
};

// P and dS of one row, for the keys that it sees.
struct RowGradient {
  Row row;
  std::vector<double> p, ds;
};

// p = softmax(scores), dp = dout v^T, ds = p (dp - sum of p dp), and the derivative of the cap. `products`
// are those of the query and the scaled keys.
template <class Step>
RowGradient row_gradient(const AttentionCase& sizes, const Row& row, const std::vector<double>& products,
                         const std::vector<double>& dp, Step step) {
  RowGradient result{row, scores_of(sizes, products, row, step), dp};
  softmax(result.p, step);
  double sum = 0;
  for (std::size_t j = 0; j < dp.size(); ++j) sum += result.p[j] * dp[j];
  for (std::size_t j = 0; j < dp.size(); ++j) {
    result.ds[j] = step(result.p[j] * (dp[j] - sum));
    if (sizes.softcap == 0) continue;
    const double tanh = std::tanh(products[j] / sizes.softcap);
    result.ds[j] = step(result.ds[j] * (1 - tanh * tanh));
  }
  return result;
}

// to += factor * from, a sum that is kept unrounded.
template <class Step>
void add(std::vector<double>& to, const Head& to_head, std::int64_t i, double factor,
         const std::vector<double>& from, const Head& from_head, std::int64_t j, Step) {
  double* sums = to.data() + to_head.start + i * to_head.step;
  const double* numbers = from.data() + from_head.start + j * from_head.step;
  for (std::int64_t d = 0; d < to_head.dim; ++d)
    sums[d] = static_cast<typename Step::Sum>(sums[d] + factor * numbers[d]);
}

// The gradients of one query head, those of k and v by themselves.
template <class Step>
AttentionGradients head_gradients(const AttentionCase& sizes, const AttentionInputs& inputs,
                                  const std::vector<double>& dout, const std::vector<double>& scaled_keys,
                                  std::int64_t batch, std::int64_t head, Step step) {
  const std::int64_t kv_head = head / (sizes.heads / sizes.kv_heads);
  const Head q(batch, sizes.seq_q, sizes.heads, head, sizes.dim);
  const Head k(batch, sizes.seq_k, sizes.kv_heads, kv_head, sizes.dim);
  const Head one_q(0, sizes.seq_q, 1, 0, sizes.dim), one_k(0, sizes.seq_k, 1, 0, sizes.dim);
  const Columns keys(scaled_keys, batch, sizes.seq_k, sizes.kv_heads, kv_head, sizes.dim),
      values(inputs.v, batch, sizes.seq_k, sizes.kv_heads, kv_head, sizes.dim);
  AttentionGradients result;
  result.dq.resize(static_cast<std::size_t>(sizes.seq_q * sizes.dim));
  result.dk.resize(static_cast<std::size_t>(sizes.seq_k * sizes.dim));
  result.dv = result.dk;
  for (std::int64_t i = 0; i < sizes.seq_q; ++i) {
    const Row row = row_of(sizes, inputs, batch, head, i);
    const std::int64_t q_start = q.start + i * q.step;
    const RowGradient gradient =
        row_gradient(sizes, row, keys.times(inputs.q.data() + q_start, row.begin, row.end, step),
                     values.times(dout.data() + q_start, row.begin, row.end, step), step);
    for (std::int64_t j = row.begin; j < row.end; ++j) {
      const auto at = static_cast<std::size_t>(j - row.begin);
      add(result.dq, one_q, i, gradient.ds[at], scaled_keys, k, j, step);
      add(result.dk, one_k, j, gradient.ds[at], inputs.q, q, i, step);
      add(result.dv, one_k, j, gradient.p[at], dout, q, i, step);
    }
  }
  for (double& value : result.dq) value = step(value);
  for (double& value : result.dk) value = step(step(value) * scale_of(sizes));
  for (double& value : result.dv) value = step(value);
  return result;
}

template <class Step>
AttentionGradients backward(const AttentionCase& sizes, const AttentionInputs& inputs,
                            const std::vector<double>& dout, Step step) {
  AttentionGradients result;
  result.dq.resize(inputs.q.size());
  result.dk.resize(inputs.k.size());
  result.dv.resize(inputs.v.size());
  std::vector<double> scaled_keys = inputs.k;
  for (double& key : scaled_keys) key = step(key * scale_of(sizes));
  for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      const AttentionGradients one = head_gradients(sizes, inputs, dout, scaled_keys, batch, head, step);
      const Head q(batch, sizes.seq_q, sizes.heads, head, sizes.dim);
      const Head k(batch, sizes.seq_k, sizes.kv_heads, head / (sizes.heads / sizes.kv_heads), sizes.dim);
      const Head one_q(0, sizes.seq_q, 1, 0, sizes.dim), one_k(0, sizes.seq_k, 1, 0, sizes.dim);
      for (std::int64_t i = 0; i < sizes.seq_q; ++i) add(result.dq, q, i, 1, one.dq, one_q, i, step);
      for (std::int64_t j = 0; j < sizes.seq_k; ++j) {
        add(result.dk, k, j, 1, one.dk, one_k, j, step);
        add(result.dv, k, j, 1, one.dv, one_k, j, step);
      }
    }
  }
  for (std::vector<double>* gradient : {&result.dq, &result.dk, &result.dv}) {
    for (double& value : *gradient) value = step(value);
  }
  return result;
}

}  // namespace

AttentionGradients attention_bwd_fp64(const AttentionCase& sizes, const AttentionInputs& inputs,
                                      const std::vector<double>& dout) {
  return backward(sizes, inputs, dout, Exactly{});
}

AttentionGradients attention_bwd_naive(const AttentionCase& sizes, const AttentionInputs& inputs,
                                       const std::vector<double>& dout, NumberFormat format) {
  return backward(sizes, inputs, dout, Rounded{format});
}

}  // namespace flash_ref::reference
