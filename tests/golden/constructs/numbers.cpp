// Half types in plain C++: the compiler's, the standard's and a project's.
#include <cstdint>
#include <memory>
#include <vector>

struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  int32_t ndim;
  DLDataType dtype;
};
extern "C" int flash_ref_attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out,
                                       DLTensor* lse, const void* options);

namespace std {  // as <stdfloat> has it where the compiler knows the type
using float16_t = _Float16;
}
namespace cutlass {
struct half_t {
  uint16_t storage;
  half_t() = default;
  explicit half_t(float x) : storage(static_cast<uint16_t>(x)) {}
  operator float() const { return storage; }
};
inline half_t operator*(half_t a, half_t b) { return half_t(float(a) * float(b)); }
}  // namespace cutlass
struct bfloat16_t {
  uint16_t storage;
  bfloat16_t() = default;
  explicit bfloat16_t(float x) : storage(static_cast<uint16_t>(x)) {}
  operator float() const { return storage; }
};

int attend(void* q, DLDataType q_type, const void* k, DLDataType k_type) {
  DLTensor a{q, 4, q_type}, b{const_cast<void*>(k), 4, k_type};
  return flash_ref_attention_fwd(&a, &b, &b, &b, nullptr, nullptr);
}
constexpr DLDataType kFloat = {2, 32, 1}, kHalf = {2, 16, 1}, kBrain = {4, 16, 1};

void bad_standard(const std::float16_t* h, int n) {
  auto f = std::make_unique<float[]>(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.get(), kFloat, h, kHalf);
}
void bad_compiler(const _Float16* h, int n) {
  std::vector<float> f(h, h + n);  // expect: attention-implicit-promotion
  attend(f.data(), kFloat, h, kHalf);
}
void bad_brain(const __bf16* h, const float* scale, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i] * scale[i];  // expect: attention-implicit-promotion
  attend(f.data(), kFloat, h, kBrain);
}
void bad_project(const cutlass::half_t* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i] * 0.5f;  // expect: attention-implicit-promotion
  attend(f.data(), kFloat, h, kHalf);
}
void bad_own_brain(const bfloat16_t* h, int n) {
  std::vector<float> f(n);
  for (auto i = 0; i < n; ++i) f.at(i) = h[i];  // expect: attention-implicit-promotion
  attend(&f[0], kFloat, h, kBrain);
}
void ok_rounded_back(const cutlass::half_t* h, int n) {
  std::vector<cutlass::half_t> out(n);
  for (int i = 0; i < n; ++i) {
    float wide = h[i];
    wide = wide * 2.0f + 1.0f;
    out[i] = cutlass::half_t(wide);
  }
  attend(out.data(), kHalf, h, kHalf);
}
void ok_brain_rounded_back(const __bf16* h, const float* scale, int n) {
  std::vector<__bf16> out(n);
  for (int i = 0; i < n; ++i) out[i] = static_cast<__bf16>(h[i] * scale[i]);
  attend(out.data(), kBrain, h, kBrain);
}
void ok_half_arithmetic(const _Float16* h, int n) {
  std::vector<_Float16> out(n);
  _Float16 sum = 0;
  for (int i = 0; i < n; ++i) out[i] = sum += h[i] * h[i];
  attend(out.data(), kHalf, h, kHalf);
}
void ok_intended(const _Float16* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = static_cast<float>(h[i]);
  std::vector<_Float16> out(n);
  for (int i = 0; i < n; ++i) out[i] = static_cast<_Float16>(f[i] * 0.125f);
  attend(out.data(), kHalf, h, kHalf);
}
int main(int argc, char**) {
  std::vector<_Float16> h(argc);
  std::vector<__bf16> b(argc);
  std::vector<float> scale(argc);
  std::vector<cutlass::half_t> c(argc);
  std::vector<bfloat16_t> o(argc);
  bad_standard(h.data(), argc);
  bad_compiler(h.data(), argc);
  bad_brain(b.data(), scale.data(), argc);
  bad_project(c.data(), argc);
  bad_own_brain(o.data(), argc);
  ok_rounded_back(c.data(), argc);
  ok_brain_rounded_back(b.data(), scale.data(), argc);
  ok_half_arithmetic(h.data(), argc);
  ok_intended(h.data(), argc);
}
