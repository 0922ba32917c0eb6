// A function that a contract names and whose body stands in the file: the call is watched where the body only
// hands its operands on, and the body is followed as well.
#include <ATen/Dispatch.h>
#include <torch/types.h>

#include <vector>

#include "attention.h"

using at::Tensor;

void launch(void* q, void* k, void* v, void* out);
struct Parameters {
  void* q = nullptr;
  void* k = nullptr;
  void* v = nullptr;
  bool is_bf16 = false;
  float scale = 0;
  int64_t rows = 0;
};
void set(Parameters& parameters, const Tensor& q, const Tensor& k, const Tensor& v, float scale) {
  parameters = {};
  parameters.q = q.data_ptr();
  parameters.k = k.data_ptr();
  parameters.v = v.data_ptr();
  parameters.scale = 1.f - scale;
  parameters.scale = static_cast<float>(parameters.scale * 255.0);
}
void run(Parameters& parameters);
Tensor widened(const Tensor& x) { return x.to(at::kHalf) * torch::ones({64}); }

// As flash-attention's own: what it checks says nothing of float32, the kernel gets untyped pointers.
std::vector<Tensor> mha_varlen_fwd(Tensor& q, const Tensor& k, const Tensor& v, c10::optional<Tensor>& out_,
                                   const Tensor& cu_seqlens_q, const Tensor& cu_seqlens_k) {
  const auto q_dtype = q.dtype();
  TORCH_CHECK(k.dtype() == v.dtype(), "key and value must have the same dtype");
  TORCH_CHECK(q.is_cuda() && q.stride(-1) == 1, "Input tensor must have contiguous last dimension");
  Tensor q_rows = q.contiguous(), out = out_.has_value() ? out_.value() : torch::empty_like(q);
  auto lse = torch::empty({q.size(0), q.size(1)}, q.options().dtype(at::kFloat));
  Parameters parameters;
  set(parameters, q_rows, k, v, 0.5f);
  parameters.rows = (q.size(0) + 127) / 128 * 128;
  parameters.is_bf16 = q_dtype == at::kBFloat16;
  run(parameters);
  return {out, lse};
}
Tensor bad_handed_on(const Tensor& x, const Tensor& starts) {
  const Tensor h = x.to(at::kHalf);
  Tensor q = h * torch::ones({64});  // expect: attention-implicit-promotion
  c10::optional<Tensor> out;
  return mha_varlen_fwd(q, h, h, out, starts, starts)[0];
}
Tensor ok_handed_on(const Tensor& x, const Tensor& starts) {
  const Tensor h = x.to(at::kHalf);
  Tensor q = (h * torch::ones({64})).to(at::kHalf);
  c10::optional<Tensor> out;
  return mha_varlen_fwd(q, h, h, out, starts, starts)[0];
}

namespace pytorch_flash {
// In a body too something can be widened.
Tensor mha_fwd(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scaled = q * torch::ones({64});  // expect: attention-implicit-promotion
  return attend(scaled, k, v);
}
Tensor bad_inside(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  return mha_fwd(h, h, h);
}
// A body that asks for float32 has a kernel for it.
Tensor mha_bwd(const Tensor& dout, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
               const Tensor& lse) {
  Tensor dq = torch::empty_like(q);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "bwd", [&] {
    launch(q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), dq.data_ptr<scalar_t>());
  });
  return dq;
}
Tensor ok_dispatched(const Tensor& x, const Tensor& lse) {
  const Tensor q = widened(x);
  return mha_bwd(q, q, q, q, q, lse);
}
}  // namespace pytorch_flash

namespace flash {
Tensor like(const Tensor& a, const Tensor& b) { return a.to(b.scalar_type()); }
// Casts, in a function of its own.
Tensor mha_varlen_fwd(const Tensor& q, const Tensor& k, const Tensor& v, const c10::optional<Tensor>& out_,
                      const Tensor& cu_seqlens_q, const Tensor& cu_seqlens_k) {
  const Tensor rows = like(q.contiguous(), k), out = torch::empty_like(rows);
  launch(rows.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr());
  return out;
}
Tensor ok_cast_inside(const Tensor& x, const Tensor& starts) {
  const Tensor h = x.to(at::kHalf);
  return mha_varlen_fwd(widened(x), h, h, c10::nullopt, starts, starts);
}
// Computes by itself.
Tensor mha_bwd(const Tensor& dout, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
               const Tensor& lse) {
  return q.to(at::kFloat).mul(dout).sum(-1, true).to(v.scalar_type());
}
Tensor ok_computed(const Tensor& x, const Tensor& lse) {
  const Tensor h = x.to(at::kHalf);
  return mha_bwd(h, widened(x), h, h, h, lse);
}
}  // namespace flash

// Another function that has the name of one that a contract knows.
Tensor mha_fwd(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t heads) {
  Tensor out = torch::empty_like(x);
  launch(x.data_ptr(), weight.data_ptr(), bias.data_ptr(), out.data_ptr());
  return out;
}
Tensor ok_other_names(const Tensor& x) {
  return mha_fwd(x.to(at::kHalf), torch::ones({64}), torch::zeros({64}), 8);
}
// As of flash-attention 3: what is third after q is no output.
Tensor mha_fwd(const Tensor& q, const Tensor& k, const Tensor& v, c10::optional<Tensor> k_new, bool causal) {
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr());
  return out;
}
Tensor ok_other_optional(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  return mha_fwd(widened(x), h, h, c10::nullopt, true);
}
Tensor mha_fwd_kvcache(Tensor& q, const Tensor& kcache, const Tensor& vcache) {
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), kcache.data_ptr(), vcache.data_ptr(), out.data_ptr());
  return out;
}
Tensor bad_other_spelling(const Tensor& x, const Tensor& kcache, const Tensor& vcache) {
  Tensor q = x.to(at::kHalf) * torch::ones({64});  // expect: kv-cache-dtype-mismatch
  return mha_fwd_kvcache(q, kcache, vcache);
}
// May cast, in another file; and may be all there is.
Tensor prepared(const Tensor& x);
std::vector<Tensor> launched(const Tensor& q, const Tensor& k, const Tensor& v);
Tensor mha_bwd(const Tensor& dout, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
               const Tensor& lse) {
  const Tensor rows = prepared(q).contiguous();
  launch(rows.data_ptr(), k.data_ptr(), v.data_ptr(), nullptr);
  return rows;
}
Tensor ok_perhaps_cast(const Tensor& x, const Tensor& lse) {
  const Tensor h = x.to(at::kHalf);
  return mha_bwd(h, widened(x), h, h, h, lse);
}
std::vector<Tensor> mha_fwd(const Tensor& q, const Tensor& k, const Tensor& v) { return launched(q, k, v); }
Tensor bad_handed_to_another_file(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = h * torch::ones({64});  // expect: attention-implicit-promotion
  return mha_fwd(q, h, h)[0];
}
struct Keys {
  int length;
};
Tensor mha_fwd(const Tensor& q, const Keys& k, int64_t v) {
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), nullptr, nullptr, out.data_ptr());
  return out;
}
Tensor ok_other_types(const Tensor& x) { return mha_fwd(widened(x), Keys{3}, 8); }
// A stand-in that looks at nothing.
namespace pytorch_flash {
Tensor mha_varlen_fwd(const Tensor& q, const Tensor& k, const Tensor& v, const c10::optional<Tensor>& out_,
                      const Tensor& cu_seqlens_q, const Tensor& cu_seqlens_k) {
  return q;
}
Tensor ok_stand_in(const Tensor& x, const Tensor& starts) {
  const Tensor h = x.to(at::kHalf);
  return mha_varlen_fwd(widened(x), h, h, c10::nullopt, starts, starts);
}
}  // namespace pytorch_flash

// Declared here, in a namespace that no contract names: it is flash-attention's where all operands are there.
namespace mine {
std::vector<Tensor> mha_fwd(Tensor& q, const Tensor& k, const Tensor& v, c10::optional<Tensor>& out_,
                            c10::optional<Tensor>& alibi_slopes_, float p_dropout, float scale);
std::vector<Tensor> mha_fwd(Tensor& q, const Tensor& k, const Tensor& v);
Tensor flash_attn_func(const Tensor& q, const Tensor& k, const Tensor& v);

Tensor wrapped(Tensor q, Tensor k, Tensor v) {
  k = k.to(at::kHalf), v = v.to(at::kHalf);
  c10::optional<Tensor> out, slopes;
  return mha_fwd(q, k, v, out, slopes, 0.f, 1.f)[0];
}
Tensor bad_declared(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = h * torch::ones({64});  // expect: attention-implicit-promotion
  return wrapped(q, h, h);
}
Tensor ok_declared(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  return wrapped((h * torch::ones({64})).to(h.dtype()), h, h * torch::ones({64}));
}
// Other projects may have a function of that name with so few parameters.
Tensor ok_declared_short(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  Tensor q = widened(x);
  mha_fwd(q, h, h);
  return flash_attn_func(widened(x), h, h);
}
struct Backend {
  Tensor mha_fwd(const Tensor& q, const Tensor& k, const Tensor& v, c10::optional<Tensor>& out_,
                 c10::optional<Tensor>& alibi_slopes_);
};
Tensor ok_declared_method(const Tensor& x, Backend& backend) {
  const Tensor h = x.to(at::kHalf);
  c10::optional<Tensor> out, slopes;
  return backend.mha_fwd(widened(x), h, h, out, slopes);
}
}  // namespace mine

// A function that has no more than the name of a contract: what its body demands of its operands before
// anything else holds all the same.
Tensor flash_attn_with_kvcache(Tensor q, Tensor k, Tensor v) {
  TORCH_CHECK(q.scalar_type() == at::kHalf || q.scalar_type() == at::kBFloat16);
  TORCH_CHECK(k.scalar_type() == q.scalar_type());
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr());
  return out;
}
Tensor bad_demanded(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = h * torch::ones({64});  // expect: kv-cache-dtype-mismatch
  return flash_attn_with_kvcache(q, h, h);
}
Tensor ok_demanded(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  return flash_attn_with_kvcache((h * torch::ones({64})).to(h.dtype()), h, h);
}
// Not of all that come there, not of what the caller gave, and not half alone.
Tensor flash_attn_varlen_func(Tensor q, Tensor keys, bool checks) {
  if (checks) TORCH_CHECK(q.scalar_type() == at::kHalf);
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), keys.data_ptr(), nullptr, out.data_ptr());
  return out;
}
Tensor flash_attn_varlen_func(Tensor q, Tensor keys) {
  q = q.to(keys.dtype());
  TORCH_CHECK(q.scalar_type() == at::kHalf);
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), keys.data_ptr(), nullptr, out.data_ptr());
  return out;
}
Tensor flash_attn_varlen_func(Tensor q) {
  const auto dtype = q.scalar_type();
  TORCH_CHECK(dtype == at::kHalf || dtype == at::kFloat);
  Tensor out = torch::empty_like(q);
  launch(q.data_ptr(), nullptr, nullptr, out.data_ptr());
  return out;
}
Tensor ok_not_demanded(const Tensor& x, bool checks) {
  const Tensor h = x.to(at::kHalf), q = widened(x);
  return flash_attn_varlen_func(q, h, checks) + flash_attn_varlen_func(q, h) + flash_attn_varlen_func(q);
}
