// One of what may arrive is taken, or is not known.
#include "attention.h"

int correlated(const at::Tensor& x, bool wide) {
  at::Tensor q;
  if (wide) {
    q = x.to(torch::kFloat);
  } else {
    q = x.to(x.scalar_type());
  }
  View q_view(q), x_view(x);
  if (!wide) return flash_ref_attention_fwd(q_view, x_view, x_view, x_view, nullptr, nullptr);
  return 0;
}

bool supports(const at::Tensor& q);
int asked(const at::Tensor& x, bool wider) {
  at::Tensor q = x.to(wider ? at::ScalarType::Double : torch::kFloat);
  if (wider && supports(q)) attend(q, x, x);
  return 0;
}

int main(int argc, char**) {
  const at::Tensor x = torch::zeros({1, 2}, torch::kHalf);
  correlated(x, argc > 1);
  asked(x, argc > 2);
}
