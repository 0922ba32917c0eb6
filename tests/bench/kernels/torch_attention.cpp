// libtorch's own attention on the memory of the benchmark's tensors.
#include "tests/bench/kernels/torch_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <tuple>

namespace bench {

std::string torch_version() { return TORCH_VERSION; }

// (batch, seq, heads, dim) in memory, (batch, heads, seq, dim) as libtorch wants it, made contiguous
// beforehand.
std::function<void()> torch_attention(Array& q, Array& k, Array& v, bool causal, int threads) {
  const auto wrap = [](Array& array) {
    return at::from_blob(array.memory.data(), array.shape, at::kBFloat16).transpose(1, 2).contiguous();
  };
  const at::Tensor tq = wrap(q), tk = wrap(k), tv = wrap(v);
  return [=] {
    at::NoGradGuard no_grad;
    at::set_num_threads(threads);
#if TORCH_VERSION_MAJOR < 2
    at::_scaled_dot_product_attention(tq, tk, tv, {}, 0.0, false, causal);
#else
    at::scaled_dot_product_attention(tq, tk, tv, {}, 0.0, causal);
#endif
  };
}

}  // namespace bench
