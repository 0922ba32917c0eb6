#include "kernels/reference/attention_bwd.h"

#include "kernels/reference/attention_rows.h"

namespace flash_ref::reference {
namespace {

// One head of a tensor (batch, rows, heads, dim).
struct Head {
  std::int64_t start, step, dim;
  Head(std::int64_t batch, std::int64_t rows, std::int64_t heads, std::int64_t head, std::int64_t head_dim)
      : start((batch * rows * heads + head) * head_dim), step(heads * head_dim), dim(head_dim) {}

  double& at(std::vector<double>& all, std::int64_t row, std::int64_t d) const {
    return all[static_cast<std::size_t>(start + row * step + d)];
  }
  double at(const std::vector<double>& all, std::int64_t row, std::int64_t d) const {
    return all[static_cast<std::size_t>(start + row * step + d)];
  }
};

template <class Step>
double dot(const std::vector<double>& a, const Head& a_head, std::int64_t i, const std::vector<double>& b,
           const Head& b_head, std::int64_t j, Step) {
  typename Step::Sum sum = 0;
  for (std::int64_t d = 0; d < a_head.dim; ++d)
    sum = static_cast<typename Step::Sum>(sum + a_head.at(a, i, d) * b_head.at(b, j, d));
  return sum;
}

// P and dS of one row, for the keys that it sees.
struct RowGradient {
  Row row;
  std::vector<double> p, ds;
};

// p = softmax(scores), dp = dout v^T, ds = p (dp - sum of p dp), and the derivative of the cap.
template <class Step>
RowGradient row_gradient(const AttentionCase& sizes, const AttentionInputs& inputs, const Row& row,
                         const std::vector<double>& dout, const std::vector<double>& scaled_keys,
                         const Head& q, const Head& k, std::int64_t i, Step step) {
  RowGradient result{row, {}, {}};
  result.p =
      scores_of(sizes, inputs.q.data() + q.start + i * q.step, scaled_keys.data() + k.start, row, step);
  softmax(result.p, step);
  double sum = 0;
  for (std::int64_t j = row.begin; j < row.end; ++j) {
    result.ds.push_back(step(dot(dout, q, i, inputs.v, k, j, step)));
    sum += result.p[static_cast<std::size_t>(j - row.begin)] * result.ds.back();
  }
  for (std::int64_t j = row.begin; j < row.end; ++j) {
    const auto at = static_cast<std::size_t>(j - row.begin);
    result.ds[at] = step(result.p[at] * (result.ds[at] - sum));
    if (sizes.softcap == 0) continue;
    const double tanh = std::tanh(step(dot(inputs.q, q, i, scaled_keys, k, j, step)) / sizes.softcap);
    result.ds[at] = step(result.ds[at] * (1 - tanh * tanh));
  }
  return result;
}

// to += factor * from, a sum that is kept unrounded.
template <class Step>
void add(std::vector<double>& to, const Head& to_head, std::int64_t i, double factor,
         const std::vector<double>& from, const Head& from_head, std::int64_t j, Step) {
  for (std::int64_t d = 0; d < to_head.dim; ++d) {
    double& sum = to_head.at(to, i, d);
    sum = static_cast<typename Step::Sum>(sum + factor * from_head.at(from, j, d));
  }
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
  AttentionGradients result;
  result.dq.resize(static_cast<std::size_t>(sizes.seq_q * sizes.dim));
  result.dk.resize(static_cast<std::size_t>(sizes.seq_k * sizes.dim));
  result.dv = result.dk;
  for (std::int64_t i = 0; i < sizes.seq_q; ++i) {
    const Row row = row_of(sizes, inputs, batch, head, i);
    const RowGradient gradient = row_gradient(sizes, inputs, row, dout, scaled_keys, q, k, i, step);
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
