// Half code under OpenMP's directives and around inline assembly.
#include <cstdint>
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

int attend(void* q, DLDataType q_type, const void* k, DLDataType k_type) {
  DLTensor a{q, 4, q_type}, b{const_cast<void*>(k), 4, k_type};
  return flash_ref_attention_fwd(&a, &b, &b, &b, nullptr, nullptr);
}
constexpr DLDataType kFloat = {2, 32, 1}, kHalf = {2, 16, 1};

void bad_parallel_for(const _Float16* h, int n) {
  std::vector<float> f(n);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), kFloat, h, kHalf);
}
void bad_nested(const _Float16* h, int rows, int columns) {
  std::vector<float> f(rows * columns);
#pragma omp parallel
  {
#pragma omp for
    for (int row = 0; row < rows; ++row) {
#pragma omp simd
      for (int i = 0; i < columns; ++i) {
        f[row * columns + i] = h[row * columns + i];  // expect: attention-implicit-promotion
      }
    }
#pragma omp barrier
  }
  attend(f.data(), kFloat, h, kHalf);
}
void ok_parallel(const _Float16* h, int n) {
  std::vector<_Float16> out(n);
  float largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (int i = 0; i < n; ++i) {
    const float wide = h[i];
    if (wide > largest) largest = wide;
    out[i] = static_cast<_Float16>(wide * 0.5f);
  }
  attend(out.data(), kHalf, h, kHalf);
}

void bad_beside_assembly(const _Float16* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) {
    int doubled = 0;
    asm("add %1, %1, %0" : "=r"(doubled) : "r"(i));
    f[i] = h[i] + doubled;  // expect: attention-implicit-promotion
  }
  attend(f.data(), kFloat, h, kHalf);
}
void ok_assembly(_Float16* h, int n) {
  for (int i = 0; i < n; ++i) {
    float wide = h[i];
    asm volatile("" : "+x"(wide)::"memory");
    h[i] = static_cast<_Float16>(wide);
  }
  attend(h, kHalf, h, kHalf);
}
