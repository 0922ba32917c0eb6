// The same types where the arithmetic is float for a while and the result is rounded back.
#include "attention.h"

struct __half {
  unsigned short x;
  __half() = default;
  __half(float);
  operator float() const;
};
float __half2float(__half);
__half __float2half(float);

int attend(const __half* q) {
  DLTensor a = describe(const_cast<__half*>(q), {2, 16, 1});
  return flash_ref_attention_fwd(&a, &a, &a, &a, nullptr, nullptr);
}

void accumulated(const __half* h, int n) {
  std::vector<__half> out(n);
  for (int i = 0; i < n; ++i) {
    float sum = h[i];
    sum += h[i] * 2.0f;
    out[i] = sum;
  }
  attend(out.data());
}

void written_out(const __half* h, int n) {
  std::vector<__half> out(n);
  for (int i = 0; i < n; ++i) out[i] = __float2half(__half2float(h[i]) * 2);
  attend(out.data());
}

void beside_the_call(const __half* h, int n) {
  std::vector<float> statistics(n);
  for (int i = 0; i < n; ++i) statistics[i] = h[i];
  attend(h);
}

// Two parts of a workspace have their own types.
void* workspace(int bytes);

void in_parts(const __half* h, int n) {
  char* all = static_cast<char*>(workspace(6 * n));
  auto* sums = reinterpret_cast<float*>(all);
  auto* out = reinterpret_cast<__half*>(all + 4 * n);
  for (int i = 0; i < n; ++i) {
    sums[i] = h[i];
    out[i] = __float2half(sums[i]);
  }
  attend(out);
}

// Bytes that are moved as another type are not converted.
struct float4 {
  float x, y, z, w;
};

void moved(const __half* h, int n) {
  std::vector<__half> out(n);
  for (int i = 0; i < n / 8; ++i)
    reinterpret_cast<float4*>(out.data())[i] = reinterpret_cast<const float4*>(h)[i];
  attend(out.data());
}

void widened_beside(const __half* h, float4* statistics, int n) {
  std::vector<__half> out(n);
  for (int i = 0; i < n; ++i) {
    statistics[i].x = h[i];
    out[i] = static_cast<__half>(static_cast<float>(h[i]) + statistics[i].x);
  }
  attend(out.data());
}

int main() { return 0; }
