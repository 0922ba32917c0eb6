// The README's first example: a table is float32 whatever the model is, and widens the queries before the
// flash kernel.
#include <torch/types.h>

torch::Tensor mha_fwd(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v);

torch::Tensor attend(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
  auto scale = torch::full({1, 1, 4, 1}, 4.0);
  q = q * scale;
  return mha_fwd(q, k, v);
}
