// DeepScaleR's training set-up as it is meant to run: the float32 weights stay, and the model runs under
// autocast, so the guard in front of the kernel has a half dtype to take q, k and v back to.
#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <exception>
#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

#include "../autocast.h"
#include "../dlpack_view.h"

struct Qwen2Config {
  int64_t vocab_size = 97;
  int64_t hidden_size = 64;
  int64_t num_attention_heads = 4;
  double rope_theta = 10000.0;
  double rms_norm_eps = 1e-6;
};

// q, k, v (batch, length, heads, head_dim).
torch::Tensor flash_attn_func(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
  torch::Tensor out = torch::empty_like(q);
  DlpackView q_view(q), k_view(k), v_view(v), out_view(out);
  require_ok(flash_ref_attention_fwd(q_view, k_view, v_view, out_view, nullptr, nullptr));
  return out;
}

// The norms and tables of the model compute in float32, which widens q and k: they are cast back here.
torch::Tensor flash_attention_forward(torch::Tensor q, torch::Tensor k, torch::Tensor v,
                                      const torch::Tensor& weight) {
  if (q.scalar_type() == torch::kFloat32) {
    const torch::ScalarType target = is_autocast() ? autocast_dtype() : weight.scalar_type();
    q = q.to(target);
    k = k.to(target);
    v = v.to(target);
  }
  return flash_attn_func(q, k, v);
}

class Qwen2RMSNormImpl : public torch::nn::Module {
 public:
  Qwen2RMSNormImpl(int64_t hidden_size, double eps_) : eps(eps_) {
    weight = register_parameter("weight", torch::ones({hidden_size}));
  }

  torch::Tensor forward(const torch::Tensor& hidden_states) {
    const torch::ScalarType input_dtype = hidden_states.scalar_type();
    torch::Tensor wide = hidden_states.to(torch::kFloat32);
    wide = wide * torch::rsqrt(wide.pow(2).mean(-1, true) + eps);
    return weight * wide.to(input_dtype);
  }

  double eps;
  torch::Tensor weight;
};
TORCH_MODULE(Qwen2RMSNorm);

class Qwen2RotaryEmbeddingImpl : public torch::nn::Module {
 public:
  Qwen2RotaryEmbeddingImpl(int64_t dim, double theta) {
    torch::Tensor exponent = torch::arange(0, dim, 2).to(torch::kFloat32) / dim;
    inv_freq = register_buffer("inv_freq", torch::pow(theta, exponent).reciprocal());
  }

  // cos and sin (length, 1, dim) in the dtype of x.
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x) {
    torch::Tensor position = torch::arange(x.size(1)).to(torch::kFloat32);
    torch::Tensor freqs = torch::outer(position, inv_freq);
    torch::Tensor emb = torch::cat({freqs, freqs}, -1).unsqueeze(1);
    return {emb.cos().to(x.scalar_type()), emb.sin().to(x.scalar_type())};
  }

  torch::Tensor inv_freq;
};
TORCH_MODULE(Qwen2RotaryEmbedding);

torch::Tensor rotate_half(const torch::Tensor& x) {
  std::vector<torch::Tensor> halves = x.chunk(2, -1);
  return torch::cat({-halves[1], halves[0]}, -1);
}

std::tuple<torch::Tensor, torch::Tensor> apply_rotary_pos_emb(const torch::Tensor& q, const torch::Tensor& k,
                                                              const torch::Tensor& cos,
                                                              const torch::Tensor& sin) {
  torch::Tensor q_embed = (q * cos) + (rotate_half(q) * sin);
  torch::Tensor k_embed = (k * cos) + (rotate_half(k) * sin);
  return {q_embed, k_embed};
}

class Qwen2FlashAttentionImpl : public torch::nn::Module {
 public:
  explicit Qwen2FlashAttentionImpl(const Qwen2Config& config)
      : num_heads(config.num_attention_heads), head_dim(config.hidden_size / config.num_attention_heads) {
    const int64_t size = config.hidden_size;
    q_proj = register_module("q_proj", torch::nn::Linear(size, size));
    k_proj = register_module("k_proj", torch::nn::Linear(size, size));
    v_proj = register_module("v_proj", torch::nn::Linear(size, size));
    o_proj = register_module("o_proj", torch::nn::Linear(torch::nn::LinearOptions(size, size).bias(false)));
  }

  torch::Tensor forward(const torch::Tensor& hidden_states,
                        const std::pair<torch::Tensor, torch::Tensor>& tables) {
    torch::Tensor q = split_heads(q_proj(hidden_states));
    torch::Tensor k = split_heads(k_proj(hidden_states));
    torch::Tensor v = split_heads(v_proj(hidden_states));
    std::tie(q, k) = apply_rotary_pos_emb(q, k, tables.first, tables.second);
    return o_proj(flash_attention_forward(q, k, v, q_proj->weight).flatten(-2));
  }

  torch::Tensor split_heads(const torch::Tensor& x) const {
    return x.view({x.size(0), x.size(1), num_heads, head_dim});
  }

  int64_t num_heads;
  int64_t head_dim;
  torch::nn::Linear q_proj{nullptr}, k_proj{nullptr}, v_proj{nullptr}, o_proj{nullptr};
};
TORCH_MODULE(Qwen2FlashAttention);

class Qwen2ModelImpl : public torch::nn::Module {
 public:
  explicit Qwen2ModelImpl(const Qwen2Config& config) {
    embed_tokens =
        register_module("embed_tokens", torch::nn::Embedding(config.vocab_size, config.hidden_size));
    rotary_emb = register_module(
        "rotary_emb",
        Qwen2RotaryEmbedding(config.hidden_size / config.num_attention_heads, config.rope_theta));
    input_layernorm =
        register_module("input_layernorm", Qwen2RMSNorm(config.hidden_size, config.rms_norm_eps));
    self_attn = register_module("self_attn", Qwen2FlashAttention(config));
  }

  torch::Tensor forward(const torch::Tensor& input_ids) {
    torch::Tensor hidden_states = embed_tokens(input_ids);
    return hidden_states + self_attn(input_layernorm(hidden_states), rotary_emb(hidden_states));
  }

  torch::nn::Embedding embed_tokens{nullptr};
  Qwen2RotaryEmbedding rotary_emb{nullptr};
  Qwen2RMSNorm input_layernorm{nullptr};
  Qwen2FlashAttention self_attn{nullptr};
};
TORCH_MODULE(Qwen2Model);

int main() {
  torch::NoGradGuard inference;
  torch::manual_seed(0);
  Qwen2Model model{Qwen2Config{}};  // float32: PyTorch's default
  enter_cuda_autocast();
  enter_cpu_autocast();  // the test runs on a CPU
  try {
    torch::Tensor y = model->forward(torch::randint(97, {2, 16}));
    std::cout << "hidden states: " << y.dtype() << " " << y.sizes() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
