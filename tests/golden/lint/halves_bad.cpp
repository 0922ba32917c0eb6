// Half types of toolkits and projects: an implicit conversion to float, kept in a buffer that a call
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

// An explicit conversion: another rule, refused all the same.
void written(const __half* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = static_cast<float>(h[i]);  // expect: attention-mixed-dtypes
  attend(f.data(), {2, 32, 1}, h);
}

void written_of_project(const cutlass::half_t* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = 2.0f * float(h[i]);  // expect: attention-mixed-dtypes
  attend(f.data(), {2, 32, 1}, h);
}

void of_language(const _Float16* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), {2, 32, 1}, h);
}

void written_of_language(const __bf16* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = (float)h[i] * 2.0f;  // expect: attention-mixed-dtypes
  DLTensor a = describe(f.data(), {2, 32, 1}), b = describe(const_cast<__bf16*>(h), {4, 16, 1});
  flash_ref_attention_fwd(&a, &b, &b, &b, nullptr, nullptr);
}

// Through a reference to the element.
void widen_into(const __half& from, float& to) {
  to = from;  // expect: attention-implicit-promotion
}

void by_reference(const __half* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) widen_into(h[i], f[i]);
  attend(f.data(), {2, 32, 1}, h);
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
