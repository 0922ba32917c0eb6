// Operators by name that keep the dtype, and a name that is known at run time only.
#include "attention.h"

using Binary = at::Tensor(const at::Tensor&, const at::Tensor&);

at::Tensor like(const at::Tensor& x, const at::Tensor& other) {
  return c10::Dispatcher::singleton().findSchemaOrThrow("aten::type_as", "").typed<Binary>().call(x, other);
}

at::Tensor named(const char* name, const at::Tensor& x, const at::Tensor& table) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Binary>().call(x, table);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf), table = torch::ones({3, 4});
  attend(like(x * table, x), x, x);
  attend(named("mine::mul", x, table), x, x);
}
