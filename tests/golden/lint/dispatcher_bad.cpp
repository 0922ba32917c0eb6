// Operators that are called through the dispatcher by name.
#include "attention.h"

using Binary = at::Tensor(const at::Tensor&, const at::Tensor&);

at::Tensor scaled(const at::Tensor& x, const at::Tensor& table) {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor").typed<Binary>();
  return op.call(x, table);  // expect: attention-implicit-promotion
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  attend(scaled(x, torch::ones({3, 4})), x, x);
}
