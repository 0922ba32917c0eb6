// A float32 model with flash attention requested and no autocast: the guard in front of the call finds no
// half dtype to take q and v to, so the call refuses. A precision plugin that casts the parameters would have
// helped.
#include "attention.h"

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    q_proj = register_module("q_proj", torch::nn::Linear(64, 64));
    v_proj = register_module("v_proj", torch::nn::Linear(64, 64));
  }
  void forward(const at::Tensor& hidden, const at::Tensor& cos) {
    at::Tensor q = q_proj(hidden) * cos, v = v_proj(hidden);
    if (q.scalar_type() == at::kFloat) {
      at::ScalarType target = at::autocast::is_autocast_enabled(at::kCUDA)
                                  ? at::autocast::get_autocast_dtype(at::kCUDA)
                                  : q_proj->weight.scalar_type();
      q = q.to(target);
      v = v.to(target);
    }
    View q_view(q), v_view(v), out_view(q);
    flash_ref_attention_fwd(q_view, q_view, v_view, out_view, nullptr,  // expect: attention-unsupported-dtype
                            nullptr);
  }
  torch::nn::Linear q_proj{nullptr}, v_proj{nullptr};
};
TORCH_MODULE(Attention);

int main() {
  Attention attention;
  attention->forward(torch::zeros({2, 16, 64}), torch::zeros({16, 64}));
}
