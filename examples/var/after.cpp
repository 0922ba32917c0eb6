// VAR's self-attention with upstream's fix: q, k and v are brought back to the dtype of the projection's
// output at the call, after the float32 arithmetic, so its precision is kept.
#include <torch/nn/functional.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <exception>
#include <iostream>
#include <vector>

#include "../autocast.h"
#include "../dlpack_view.h"

namespace F = torch::nn::functional;

// q, k, v (batch, length, heads, head_dim).
torch::Tensor flash_attn_func(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
  torch::Tensor out = torch::empty_like(v);
  DlpackView q_view(q), k_view(k), v_view(v), out_view(out);
  require_ok(flash_ref_attention_fwd(q_view, k_view, v_view, out_view, nullptr, nullptr));
  return out;
}

class SelfAttentionImpl : public torch::nn::Module {
 public:
  SelfAttentionImpl(int64_t embed_dim, int64_t heads)
      : num_heads(heads), head_dim(embed_dim / heads), max_scale_mul(std::log(100.0)) {
    scale_mul_11H1 = register_parameter("scale_mul_11H1", torch::full({1, 1, num_heads, 1}, 4.0).log());
    mat_qkv = register_module("mat_qkv", torch::nn::Linear(embed_dim, 3 * embed_dim));
    proj = register_module("proj", torch::nn::Linear(embed_dim, embed_dim));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const int64_t batch = x.size(0), length = x.size(1);
    torch::Tensor qkv = mat_qkv(x).view({batch, length, 3, num_heads, head_dim});
    const torch::ScalarType main_type = qkv.scalar_type();
    std::vector<torch::Tensor> parts = qkv.unbind(2);
    torch::Tensor q = parts[0], k = parts[1], v = parts[2];

    torch::Tensor scale_mul = scale_mul_11H1.clamp_max(max_scale_mul).exp();
    q = F::normalize(q, F::NormalizeFuncOptions().dim(-1)).mul(scale_mul);
    k = F::normalize(k, F::NormalizeFuncOptions().dim(-1));

    torch::Tensor out = flash_attn_func(q.to(main_type), k.to(main_type), v.to(main_type));
    return proj(out.reshape({batch, length, num_heads * head_dim}));
  }

  int64_t num_heads;
  int64_t head_dim;
  double max_scale_mul;
  torch::Tensor scale_mul_11H1;
  torch::nn::Linear mat_qkv{nullptr};
  torch::nn::Linear proj{nullptr};
};
TORCH_MODULE(SelfAttention);

int main() {
  torch::NoGradGuard inference;
  torch::manual_seed(0);
  SelfAttention attention(64, 4);
  // CUDA autocast leaves tensors on the CPU alone, so the two Linears are made to return there what they
  // return under it on a GPU; scale_mul_11H1 stays the float32 parameter that it is.
  attention->mat_qkv->to(torch::kBFloat16);
  attention->proj->to(torch::kBFloat16);
  enter_cuda_autocast();
  try {
    torch::Tensor y = attention->forward(torch::randn({2, 16, 64}, torch::kBFloat16));
    std::cout << "attention output: " << y.dtype() << " " << y.sizes() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
