#include "kernels/reference/attention.h"

#include "kernels/reference/attention_rows.h"

namespace flash_ref::reference {
namespace {

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
        const Row row = row_of(sizes, inputs, batch, head, i);
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
