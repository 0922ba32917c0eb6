// A tensor parameter with a default may be absent, so what follows a check for that is reached.
#include "attention.h"

void run(const at::Tensor& x, const at::Tensor& extra = {}) {
  TORCH_CHECK(!extra.defined());
  const at::Tensor q = x.to(torch::kHalf), scale = torch::ones({3, 4});
  attend(q * scale, q, q);  // expect: attention-implicit-promotion
}
