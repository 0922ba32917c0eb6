// The same program, right: the product is still taken in float, and rounded back to half where it is stored.
#include <flash_ref/flash_ref.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

using Half = _Float16;

constexpr int64_t kBatch = 1, kLength = 16, kHeads = 2, kDim = 32;
constexpr std::size_t kElements = kBatch * kLength * kHeads * kDim;

DLTensor describe(void* data, int64_t* shape, DLDataType dtype) {
  DLTensor tensor{};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 4;
  tensor.dtype = dtype;
  tensor.shape = shape;
  return tensor;
}

// q (batch, length, heads, dim) times one factor per head.
std::vector<Half> scale_heads(const std::vector<Half>& q, const std::vector<float>& head_scale) {
  std::vector<Half> scaled(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) {
    scaled[i] = static_cast<Half>(q[i] * head_scale[i / kDim % kHeads]);
  }
  return scaled;
}

int main() {
  std::vector<Half> q(kElements), k(kElements), v(kElements), out(kElements);
  for (std::size_t i = 0; i < kElements; ++i) {
    q[i] = static_cast<Half>(std::sin(0.1 * static_cast<double>(i)));
    k[i] = static_cast<Half>(std::cos(0.2 * static_cast<double>(i)));
    v[i] = static_cast<Half>(std::sin(0.3 * static_cast<double>(i)));
  }
  const std::vector<float> head_scale = {1.5F, 0.75F};

  std::vector<Half> q_scaled = scale_heads(q, head_scale);
  int64_t shape[4] = {kBatch, kLength, kHeads, kDim};
  const DLDataType half = {kDLFloat, 16, 1};
  DLTensor q_tensor = describe(q_scaled.data(), shape, half);
  DLTensor k_tensor = describe(k.data(), shape, half);
  DLTensor v_tensor = describe(v.data(), shape, half);
  DLTensor out_tensor = describe(out.data(), shape, half);
  if (flash_ref_attention_fwd(&q_tensor, &k_tensor, &v_tensor, &out_tensor, nullptr, nullptr) != 0) {
    std::fprintf(stderr, "%s\n", flash_ref_last_error());
    return 1;
  }
  std::printf("attention output: %.4f %.4f ...\n", static_cast<double>(out[0]), static_cast<double>(out[1]));
  return 0;
}
