// Half types of toolkits and projects: a conversion to float that nobody wrote, kept in a buffer that a call
// takes.
#include "attention.h"

struct __half {
  unsigned short x;
  __half() = default;
  __half(float);
  operator float() const;
};
namespace cutlass {
struct half_t {
  unsigned short x;
  half_t() = default;
  explicit half_t(float);
  operator float() const;
};
}  // namespace cutlass
float __half2float(__half);

int attend(void* q, DLDataType q_type, const void* k) {
  DLTensor a = describe(q, q_type), b = describe(const_cast<void*>(k), {2, 16, 1});
  return flash_ref_attention_fwd(&a, &b, &b, &b, nullptr, nullptr);
}

void toolkit(const __half* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), {2, 32, 1}, h);
}

void project(const cutlass::half_t* h, int n) {
  auto* f = new float[n];
  for (int i = 0; i < n; ++i) f[i] = h[i] * 2.0f;  // expect: attention-implicit-promotion
  attend(f, {2, 32, 1}, h);
}

template <class T>
int attend_as(const T* q, const __half* k) {
  return attend(const_cast<T*>(q), {2, sizeof(T) * 8, 1}, k);
}

void instantiated(const __half* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend_as(f.data(), h);
}

// Memory without a type is what it is cast to.
void* workspace(int bytes);

void of_workspace(const __half* h, int n) {
  auto* f = static_cast<float*>(workspace(n));
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f, {2, 32, 1}, h);
}

void of_bytes(const __half* h, char* bytes, int n) {
  auto* f = reinterpret_cast<float*>(bytes);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f, {2, 32, 1}, h);
}
