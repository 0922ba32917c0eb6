// RWKV-7's time mixing (fla-org/flash-linear-attention, fla/layers/rwkv7.py) as libtorch C++, with its bug:
// under autocast the projections give bfloat16, and addcmul with the float32 parameter k_a makes k float32,
// while the kernel wants its inputs in one dtype. The addcmul with x_r and its kin promotes just as well, but
// the projection behind it takes the result back: that one is harmless.
#include <torch/nn/functional.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <exception>
#include <iostream>

#include "../autocast.h"
#include "../dlpack_view.h"

namespace F = torch::nn::functional;

// All (batch, length, heads, head_dim) and in one dtype.
torch::Tensor chunk_rwkv7(const torch::Tensor& r, const torch::Tensor& w, const torch::Tensor& k,
                          const torch::Tensor& v, const torch::Tensor& a, const torch::Tensor& b) {
  torch::Tensor out = torch::empty_like(v);
  DlpackView r_view(r), w_view(w), k_view(k), v_view(v), a_view(a), b_view(b), out_view(out);
  require_ok(flash_ref_rwkv7_fwd(r_view, w_view, k_view, v_view, a_view, b_view, nullptr, out_view, nullptr,
                                 nullptr));
  return out;
}

class RWKV7AttentionImpl : public torch::nn::Module {
 public:
  RWKV7AttentionImpl(int64_t hidden_size, int64_t num_heads_)
      : num_heads(num_heads_), head_dim(hidden_size / num_heads_) {
    x_r = register_parameter("x_r", torch::full({1, 1, hidden_size}, 0.5));
    x_w = register_parameter("x_w", torch::full({1, 1, hidden_size}, 0.5));
    x_k = register_parameter("x_k", torch::full({1, 1, hidden_size}, 0.5));
    x_v = register_parameter("x_v", torch::full({1, 1, hidden_size}, 0.5));
    x_a = register_parameter("x_a", torch::full({1, 1, hidden_size}, 0.5));
    k_k = register_parameter("k_k", torch::full({hidden_size}, 0.85));
    k_a = register_parameter("k_a", torch::ones({hidden_size}));
    r_proj = register_module("r_proj", torch::nn::Linear(hidden_size, hidden_size));
    w_proj = register_module("w_proj", torch::nn::Linear(hidden_size, hidden_size));
    k_proj = register_module("k_proj", torch::nn::Linear(hidden_size, hidden_size));
    v_proj = register_module("v_proj", torch::nn::Linear(hidden_size, hidden_size));
    a_proj = register_module("a_proj", torch::nn::Linear(hidden_size, hidden_size));
    o_proj = register_module("o_proj", torch::nn::Linear(hidden_size, hidden_size));
  }

  torch::Tensor forward(const torch::Tensor& hidden_states) {
    const torch::Tensor delta = time_shift(hidden_states) - hidden_states;
    torch::Tensor r = r_proj(hidden_states.addcmul(delta, x_r));
    torch::Tensor w = w_proj(hidden_states.addcmul(delta, x_w)).sigmoid() * -0.606531;
    torch::Tensor k = k_proj(hidden_states.addcmul(delta, x_k));
    torch::Tensor v = v_proj(hidden_states.addcmul(delta, x_v));
    torch::Tensor a = a_proj(hidden_states.addcmul(delta, x_a)).sigmoid();

    // kk is rounded back: the kernel at hand takes a and b in r's dtype only.
    torch::Tensor kk =
        F::normalize(split_heads(k * k_k), F::NormalizeFuncOptions().dim(-1)).to(r.scalar_type());
    k = k.addcmul(k * (a - 1), k_a);

    torch::Tensor out =
        chunk_rwkv7(split_heads(r), split_heads(w), split_heads(k), split_heads(v), -kk, kk * split_heads(a));
    return o_proj(out.flatten(-2));
  }

  // Every position sees its predecessor; the first sees zeros.
  static torch::Tensor time_shift(const torch::Tensor& x) {
    return torch::cat({torch::zeros_like(x.slice(1, 0, 1)), x.slice(1, 0, x.size(1) - 1)}, 1);
  }

  torch::Tensor split_heads(const torch::Tensor& x) const {
    return x.view({x.size(0), x.size(1), num_heads, head_dim});
  }

  int64_t num_heads;
  int64_t head_dim;
  torch::Tensor x_r, x_w, x_k, x_v, x_a, k_k, k_a;
  torch::nn::Linear r_proj{nullptr}, w_proj{nullptr}, k_proj{nullptr}, v_proj{nullptr}, a_proj{nullptr},
      o_proj{nullptr};
};
TORCH_MODULE(RWKV7Attention);

int main() {
  torch::NoGradGuard inference;
  torch::manual_seed(0);
  RWKV7Attention attention(64, 4);
  // "bf16-mixed" on whichever device the tensors are: autocast over float32 parameters.
  enter_cuda_autocast();
  enter_cpu_autocast();
  try {
    torch::Tensor y = attention->forward(torch::randn({2, 16, 64}));
    std::cout << "attention output: " << y.dtype() << " " << y.sizes() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
