// Qwen2.5-Omni's vision rotary with upstream's fix: the tables are raised to the dtype of the widened input,
// and the result returns to the model's dtype.
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <exception>
#include <iostream>
#include <vector>

#include "../dlpack_view.h"

// x (batch, seq, heads, dim); cos, sin (seq, dim / 2), of x's dtype: the kernel asserts that they are equal.
torch::Tensor apply_rotary_emb(const torch::Tensor& x, const torch::Tensor& cos, const torch::Tensor& sin) {
  torch::Tensor out = torch::empty_like(x);
  DlpackView x_view(x), cos_view(cos), sin_view(sin), out_view(out);
  require_ok(flash_ref_rotary(x_view, cos_view, sin_view, out_view, nullptr));
  return out;
}

torch::Tensor apply_rotary_pos_emb_flashatt(const torch::Tensor& tensor, const torch::Tensor& freqs) {
  torch::Tensor wide = tensor.to(torch::kFloat32);
  torch::Tensor cos = freqs.cos().type_as(wide);
  torch::Tensor sin = freqs.sin().type_as(wide);
  return apply_rotary_emb(wide, cos, sin).type_as(tensor);
}

torch::Tensor flash_attn_func(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
  torch::Tensor out = torch::empty_like(q);
  DlpackView q_view(q), k_view(k), v_view(v), out_view(out);
  require_ok(flash_ref_attention_fwd(q_view, k_view, v_view, out_view, nullptr, nullptr));
  return out;
}

class VisionRotaryEmbeddingImpl : public torch::nn::Module {
 public:
  explicit VisionRotaryEmbeddingImpl(int64_t dim) {
    torch::Tensor exponent = torch::arange(0, dim, 2, torch::kFloat32) / static_cast<double>(dim);
    inv_freq = register_buffer("inv_freq", torch::pow(10000.0, exponent).reciprocal());
  }

  torch::Tensor forward(int64_t seqlen) {
    torch::Tensor seq = torch::arange(seqlen, inv_freq.options());
    return torch::outer(seq, inv_freq);
  }

  torch::Tensor inv_freq;
};
TORCH_MODULE(VisionRotaryEmbedding);

class VisionAttentionImpl : public torch::nn::Module {
 public:
  VisionAttentionImpl(int64_t dim, int64_t heads) : num_heads(heads), head_dim(dim / heads) {
    qkv = register_module("qkv", torch::nn::Linear(dim, 3 * dim));
    rotary = register_module("rotary", VisionRotaryEmbedding(head_dim));
  }

  torch::Tensor forward(const torch::Tensor& hidden) {
    const int64_t batch = hidden.size(0), seqlen = hidden.size(1);
    std::vector<torch::Tensor> parts = qkv(hidden).view({batch, seqlen, 3, num_heads, head_dim}).unbind(2);
    torch::Tensor freqs = rotary->forward(seqlen);
    torch::Tensor q = apply_rotary_pos_emb_flashatt(parts[0], freqs);
    torch::Tensor k = apply_rotary_pos_emb_flashatt(parts[1], freqs);
    return flash_attn_func(q, k, parts[2]);
  }

  int64_t num_heads;
  int64_t head_dim;
  torch::nn::Linear qkv{nullptr};
  VisionRotaryEmbedding rotary{nullptr};
};
TORCH_MODULE(VisionAttention);

int main() {
  torch::NoGradGuard inference;
  torch::manual_seed(0);
  VisionAttention attention(64, 4);
  attention->to(torch::kBFloat16);  // buffers too: inv_freq becomes bfloat16
  try {
    torch::Tensor y = attention->forward(torch::randn({2, 16, 64}, torch::kBFloat16));
    std::cout << "attention output: " << y.dtype() << " " << y.sizes() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
