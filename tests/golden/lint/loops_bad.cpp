// A loop that widens every element.
#include "attention.h"

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor table = torch::zeros({3, 4}, torch::kFloat);
  std::vector<at::Tensor> all = {x, x, x};
  for (auto& each : all) each = each * table;  // expect: attention-implicit-promotion
  attend(all[0], x, x);
}
