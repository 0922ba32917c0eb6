// x-transformers' rotary position embedding (lucidrains/x-transformers 1.30.1) as libtorch C++, with its bug:
// the rotary code runs outside autocast, on tables made from a float32 buffer, so bfloat16 q and k leave it
// as float32 while v stays bfloat16.
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <exception>
#include <iostream>
#include <vector>

#include "../dlpack_view.h"

// q, k, v (batch, length, heads, head_dim).
torch::Tensor flash_attn(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
  torch::Tensor out = torch::empty_like(v);
  DlpackView q_view(q), k_view(k), v_view(v), out_view(out);
  require_ok(flash_ref_attention_fwd(q_view, k_view, v_view, out_view, nullptr, nullptr));
  return out;
}

torch::Tensor rotate_half(const torch::Tensor& x) {
  std::vector<torch::Tensor> halves = x.chunk(2, -1);
  return torch::cat({-halves[1], halves[0]}, -1);
}

// Rotates the first channels of t, as many as there are frequencies, and leaves the others alone.
torch::Tensor apply_rotary_pos_emb(torch::Tensor t, const torch::Tensor& freqs, double scale = 1.0) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCUDA);
  const int64_t rotated = freqs.size(-1);
  torch::Tensor t_unrotated = t.slice(-1, rotated);
  t = t.slice(-1, 0, rotated);

  t = (t * freqs.cos() * scale) + (rotate_half(t) * freqs.sin() * scale);
  return torch::cat({t, t_unrotated}, -1);
}

class RotaryEmbeddingImpl : public torch::nn::Module {
 public:
  explicit RotaryEmbeddingImpl(int64_t dim, double base = 10000.0) {
    torch::Tensor exponent = torch::arange(0, dim, 2).to(torch::kFloat32) / dim;
    inv_freq = register_buffer("inv_freq", torch::pow(base, exponent).reciprocal());
  }

  // (length, 1, dim): one row of angles for each position, the same for every head.
  torch::Tensor forward(int64_t length) {
    c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCUDA);
    torch::Tensor t = torch::arange(length).type_as(inv_freq);
    torch::Tensor freqs = torch::einsum("i,j->ij", {t, inv_freq});
    return torch::cat({freqs, freqs}, -1).unsqueeze(1);
  }

  torch::Tensor inv_freq;
};
TORCH_MODULE(RotaryEmbedding);

class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(int64_t dim, int64_t heads_, int64_t rotary_dim) : heads(heads_) {
    to_q = register_module("to_q", torch::nn::Linear(torch::nn::LinearOptions(dim, dim).bias(false)));
    to_k = register_module("to_k", torch::nn::Linear(torch::nn::LinearOptions(dim, dim).bias(false)));
    to_v = register_module("to_v", torch::nn::Linear(torch::nn::LinearOptions(dim, dim).bias(false)));
    to_out = register_module("to_out", torch::nn::Linear(torch::nn::LinearOptions(dim, dim).bias(false)));
    rotary_pos_emb = register_module("rotary_pos_emb", RotaryEmbedding(rotary_dim));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor q = split_heads(to_q(x)), k = split_heads(to_k(x)), v = split_heads(to_v(x));
    torch::Tensor freqs = rotary_pos_emb->forward(x.size(1));
    q = apply_rotary_pos_emb(q, freqs);
    k = apply_rotary_pos_emb(k, freqs);
    return to_out(flash_attn(q, k, v).flatten(-2));
  }

  torch::Tensor split_heads(const torch::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads, x.size(2) / heads});
  }

  int64_t heads;
  torch::nn::Linear to_q{nullptr}, to_k{nullptr}, to_v{nullptr}, to_out{nullptr};
  RotaryEmbedding rotary_pos_emb{nullptr};
};
TORCH_MODULE(Attention);

// What a training framework's bfloat16 mode does: parameters are cast, buffers keep their precision.
void cast_parameters(torch::nn::Module& model, torch::ScalarType dtype) {
  for (torch::Tensor& parameter : model.parameters()) parameter.set_data(parameter.to(dtype));
}

int main() {
  torch::NoGradGuard inference;
  torch::manual_seed(0);
  Attention attention(64, 4, 8);
  cast_parameters(*attention, torch::kBFloat16);
  try {
    torch::Tensor y = attention->forward(torch::randn({2, 16, 64}, torch::kBFloat16));
    std::cout << "attention output: " << y.dtype() << " " << y.sizes() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
