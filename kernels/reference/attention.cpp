#include "kernels/reference/attention.h"

#include "kernels/reference/attention_rows.h"

namespace flash_ref::reference {
namespace {

// Row by row of the values, so that the sums of all columns grow at once.
template <class Step>
void attend(const AttentionCase& sizes, const std::vector<double>& probabilities, const double* values,
            double* out, Step step) {
  using Sum = typename Step::Sum;
  std::vector<Sum> sums(static_cast<std::size_t>(sizes.dim));
  for (double probability : probabilities) {
    for (std::size_t d = 0; d < sums.size(); ++d)
      sums[d] = static_cast<Sum>(sums[d] + probability * values[d]);
    values += sizes.kv_heads * sizes.dim;
  }
  for (std::size_t d = 0; d < sums.size(); ++d) out[d] = step(sums[d]);
}

template <class Step>
AttentionResult attention(const AttentionCase& sizes, const AttentionInputs& inputs, Step step) {
  AttentionResult result;
  result.out.resize(inputs.q.size());
  std::vector<double> scaled_keys = inputs.k;
  for (double& key : scaled_keys) key = step(key * scale_of(sizes));
  for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      const std::int64_t kv_head = head / (sizes.heads / sizes.kv_heads);
      const std::int64_t kv_start = (batch * sizes.seq_k * sizes.kv_heads + kv_head) * sizes.dim;
      const Columns keys(scaled_keys, batch, sizes.seq_k, sizes.kv_heads, kv_head, sizes.dim);
      for (std::int64_t i = 0; i < sizes.seq_q; ++i) {
        const std::int64_t q_start = ((batch * sizes.seq_q + i) * sizes.heads + head) * sizes.dim;
        const Row row = row_of(sizes, inputs, batch, head, i);
        auto scores =
            scores_of(sizes, keys.times(inputs.q.data() + q_start, row.begin, row.end, step), row, step);
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
