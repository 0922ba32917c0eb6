// What the catalog's examples take for granted: libtorch, the kernels' C API and dl(), which makes a
// descriptor of a tensor.
#pragma once

#include <ATen/DLConvertor.h>
#include <ATen/autocast_mode.h>
#include <flash_ref/flash_ref.h>
#include <torch/nn/functional.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/version.h>

// What newer releases of libtorch declare.
#if TORCH_VERSION_MAJOR < 2
namespace at {
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const c10::optional<Tensor>& attn_mask = {}, double dropout_p = 0,
                                    bool is_causal = false);
Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const c10::optional<Tensor>& weight = {},
                c10::optional<double> eps = {});
namespace autocast {
void set_autocast_enabled(DeviceType device, bool enabled);
}
}  // namespace at
#endif

namespace F = torch::nn::functional;

// Never run, so what it allocates is not freed.
inline DLTensor* dl(const at::Tensor& tensor) { return &at::toDLPack(tensor)->dl_tensor; }

// flash-attn's, without the arguments that no example gives.
std::vector<at::Tensor> mha_fwd_kvcache(at::Tensor& q, const at::Tensor& kcache, const at::Tensor& vcache,
                                        const c10::optional<at::Tensor>& k,
                                        const c10::optional<at::Tensor>& v);

inline at::Tensor half_tensor() { return at::zeros({1, 2, 3, 4}, at::kHalf); }
inline at::Tensor bfloat16_tensor() { return at::zeros({1, 2, 3, 4}, at::kBFloat16); }
