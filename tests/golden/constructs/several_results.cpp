// What a function of a contract returns beside others: the output is like the query, statistics are float32,
// and of what stands behind nothing is known.
#include <torch/types.h>

#include <tuple>
#include <vector>

#include "attention.h"

using at::Tensor;

namespace at {
std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_efficient_attention(const Tensor& q, const Tensor& k,
                                                                           const Tensor& v);
}
std::vector<Tensor> mha_fwd(Tensor& q, const Tensor& k, const Tensor& v, c10::optional<Tensor>& out_,
                            c10::optional<Tensor>& alibi_slopes_, float p_dropout, float scale);
std::vector<Tensor> mha_fwd_kvcache(Tensor& q, const Tensor& k_cache, const Tensor& v_cache);
std::vector<Tensor> mha_bwd(const Tensor& dout, const Tensor& q, const Tensor& k, const Tensor& v,
                            const Tensor& out, const Tensor& softmax_lse);

static std::vector<Tensor> forward(Tensor q, const Tensor& k, const Tensor& v) {
  c10::optional<Tensor> out, slopes;
  return mha_fwd(q, k, v, out, slopes, 0.f, 1.f);
}

void bad_first(const Tensor& x) {
  const Tensor h = x.to(at::kBFloat16), w = torch::ones({64});
  const Tensor a = forward(h, h, h)[0];
  const Tensor q = a * w;  // expect: attention-implicit-promotion
  forward(q, h, h);
}
void ok_first(const Tensor& x) {
  const Tensor h = x.to(at::kBFloat16), w = torch::ones({64});
  const Tensor a = forward(h, h, h)[0];
  forward((a * w).to(h.dtype()), h, h);
  forward(a * h, a + h, h);
}
// Known to be half by what the first call gave.
void bad_residual(const Tensor& x) {
  Tensor h = x.to(at::kBFloat16);
  const Tensor w = torch::ones({64});
  h = h + forward(h, h, h)[0] * w;  // expect: attention-implicit-promotion
  forward(h, h, h);
}
void bad_layers(const Tensor& x, int n) {
  Tensor h = x.to(at::kBFloat16);
  const Tensor w = torch::ones({64});
  for (int i = 0; i < n; ++i) {
    const Tensor a = forward(h, h, h).front();
    h = h + a + w;  // expect: attention-implicit-promotion
  }
}
void ok_layers(const Tensor& x, int n) {
  Tensor h = x.to(at::kBFloat16);
  const Tensor w = torch::ones({64});
  for (int i = 0; i < n; ++i) h = h + (forward(h, h, h)[0] * w).to(h.dtype());
}
void bad_bound(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  auto [out, lse, seed] = at::_scaled_dot_product_efficient_attention(h, h, h);
  const Tensor q = out.to(lse.dtype());  // expect: attention-mixed-dtypes
  forward(q, h, h);
}
void ok_bound(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  auto [out, lse, seed] = at::_scaled_dot_product_efficient_attention(h, h, h);
  forward(out * seed, h, h);
  mha_bwd(out, h, h, h, out, lse);
}
void bad_statistics(const Tensor& x) {
  Tensor h = x.to(at::kHalf), out, lse;
  const auto both = mha_fwd_kvcache(h, h, h);
  out = both[0], lse = both.at(1);
  const Tensor q = out.to(lse.dtype());  // expect: attention-mixed-dtypes
  forward(q, h, h);
}
void bad_gradient(const Tensor& x) {
  const Tensor h = x.to(at::kHalf), lse = torch::ones({4});
  const auto all = mha_bwd(h, h, h, h, h, lse);
  const Tensor k = all[1] * torch::ones({64});  // expect: attention-implicit-promotion
  forward(h, k, h);
}
// Nothing is known of those behind, nor of one of all.
void ok_not_known(const Tensor& x, int i) {
  Tensor h = x.to(at::kHalf);
  const Tensor w = torch::ones({64});
  const auto all = forward(h, h, h);
  forward(all[1] * w, h, h);
  forward(all[i] * w, h, h);
  forward(all.back() * w, h, h);
  for (const Tensor& each : all) forward(each * w, h, h);
}

// A project's own function of that name that gives one, and one that gives several where one is known.
namespace flash {
Tensor mha_varlen_fwd(const Tensor& q, const Tensor& k, const Tensor& v);
}
std::tuple<Tensor, Tensor> flash_attn_func(const Tensor& q, const Tensor& k, const Tensor& v);
void ok_other_number(const Tensor& x) {
  const Tensor h = x.to(at::kHalf), w = torch::ones({64});
  const Tensor out = flash::mha_varlen_fwd(h, h, h);
  forward(out * w, out[0] * w, h);
  auto [only, lse] = flash_attn_func(h, h, h);
  mha_bwd(h, h, h, h, h, lse);
  forward(only * w, h, h);
}
