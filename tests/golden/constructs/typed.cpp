// ATen's half types: implicit conversions to float, kept in a buffer that a call takes.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "attention.h"

using at::Tensor;

void bad_half(const Tensor& x) {
  std::vector<float> f(x.numel());
  const at::Half* h = x.data_ptr<at::Half>();
  for (int64_t i = 0; i < x.numel(); ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(torch::from_blob(f.data(), x.sizes()), x, x);
}
void bad_written(const Tensor& x) {
  std::vector<float> f(x.numel());
  const at::Half* h = x.data_ptr<at::Half>();
  for (int64_t i = 0; i < x.numel(); ++i) f[i] = static_cast<float>(h[i]);  // expect: attention-mixed-dtypes
  attend(torch::from_blob(f.data(), x.sizes()), x, x);
}
void ok_half(const Tensor& x) {
  Tensor out = torch::empty_like(x);
  const auto* h = x.data_ptr<at::Half>();
  auto* to = out.data_ptr<at::Half>();
  float sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    sum += h[i];
    to[i] = sum;
  }
  attend(out, x, x);
}
void bad_bfloat16(const Tensor& x) {
  std::vector<float> f(x.numel());
  const auto* h = x.data_ptr<at::BFloat16>();
  for (int64_t i = 0; i < x.numel(); ++i) f[i] = h[i] * 2.0f;  // expect: attention-implicit-promotion
  attend(torch::from_blob(f.data(), x.sizes(), torch::kFloat), x, x);
}
void ok_bfloat16(const Tensor& x) {
  std::vector<at::BFloat16> out(x.numel());
  const auto* h = x.data_ptr<at::BFloat16>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = static_cast<at::BFloat16>(static_cast<float>(h[i]) * 2.0f);
  attend(torch::from_blob(out.data(), x.sizes(), torch::kBFloat16), x, x);
}
void bad_copy(const at::Half* h, int64_t n, const Tensor& x) {
  std::vector<float> f(n);
  std::copy(h, h + n, f.begin());  // expect: attention-implicit-promotion
  attend(torch::from_blob(f.data(), {n}, at::kFloat), x, x);
}
void bad_transform(const at::Half* h, int64_t n, const Tensor& x) {
  std::vector<float> f(n);
  std::transform(h, h + n, f.begin(), [](float v) { return v * 2; });  // expect: attention-implicit-promotion
  attend(torch::from_blob(f.data(), {n}, at::kFloat), x, x);
}
void ok_transform(const at::Half* h, int64_t n, const Tensor& x) {
  std::vector<at::Half> out(n);
  std::transform(h, h + n, out.begin(), [](float v) { return v * 2; });
  attend(torch::from_blob(out.data(), {n}, at::kHalf), x * std::accumulate(h, h + n, 0.0f), x);
}
void ok_taken_for_half(const Tensor& x) {
  const auto* h = static_cast<const at::Half*>(x.data_ptr());
  attend(torch::from_blob(const_cast<at::Half*>(h), x.sizes(), torch::kHalf), x, x);
}

// Memory of no known type is what the default dtype makes of it.
void bad_memory(const at::Tensor& x, void* memory) {
  const auto h = x.to(at::kHalf);
  attend(h + torch::from_blob(memory, {1, 8, 8}), h, h);  // expect: attention-implicit-promotion
}
void ok_memory(const at::Tensor& x, void* memory, at::TensorOptions options) {
  const auto h = x.to(at::kHalf);
  attend(h + torch::from_blob(memory, {1, 8, 8}, at::kHalf), h, h);
  attend(h + torch::from_blob(memory, {1, 8, 8}, h.options()), h, h);
}

// Half memory called float32 is no promotion, and a cast would keep what it reads.
void bad_half_memory(const Tensor& h) {
  const Tensor q = torch::from_blob(h.data_ptr(), h.sizes());  // expect: attention-mixed-dtypes
  attend(q, h, h);
}
