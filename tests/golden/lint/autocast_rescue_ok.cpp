// A float32 model with flash attention requested, as verl trains it: q and k are float32 after the rotary
// tables of the float32 residual stream, and the guard in front of the call takes all three to the autocast
// dtype.
#include "attention.h"

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    q_proj = register_module("q_proj", torch::nn::Linear(64, 64));
    v_proj = register_module("v_proj", torch::nn::Linear(64, 64));
  }
  at::Tensor forward(const at::Tensor& hidden, const at::Tensor& cos) {
    at::Tensor q = q_proj(hidden) * cos, v = v_proj(hidden);
    if (q.scalar_type() == at::kFloat) {
      at::ScalarType target = at::autocast::is_autocast_enabled(at::kCUDA)
                                  ? at::autocast::get_autocast_dtype(at::kCUDA)
                                  : q_proj->weight.scalar_type();
      q = q.to(target);
      v = v.to(target);
    }
    return attend(q, q, v);
  }
  torch::nn::Linear q_proj{nullptr}, v_proj{nullptr};
};
TORCH_MODULE(Attention);

int main() {
  Attention attention;
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  attention->forward(torch::zeros({2, 16, 64}), torch::zeros({16, 64}));
}
