// Checks of a dtype that are more than a condition in TORCH_CHECK: comparisons that print both sides, and
// ATen's functions that check arguments. What they let pass has the dtype that the call wants.
#include <ATen/TensorUtils.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>

#include "attention.h"

using at::Tensor;

#ifdef CHECK_EQ
#define EQUAL(a, b) CHECK_EQ(a, b) << "they differ"
#define DIFFERENT(a, b) CHECK_NE(a, b) << "they are the same"
#else
#define EQUAL(a, b) TORCH_CHECK_EQ(a, b) << "they differ"
#define DIFFERENT(a, b) TORCH_CHECK_NE(a, b) << "they are the same"
#endif

void ok_equal(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  EQUAL(q.scalar_type(), k.scalar_type());
  attend(q, k, k);
}
void ok_different(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  DIFFERENT(q.scalar_type(), at::kFloat);
  attend(q, k, k);
}
void bad_equal_in_another_way(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});  // expect: attention-implicit-promotion
  EQUAL(q.dim(), k.dim());
  DIFFERENT(q.scalar_type(), at::kDouble);
  attend(q, k, k);
}
void bad_as_many_dimensions(const Tensor& q, const Tensor& table) {
  EQUAL(table.dim(), 2);
  attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}
void ok_asserted(Tensor q, Tensor k, const Tensor& v) {
  q = q * torch::ones({64});
  k = k * torch::ones({64});
  TORCH_INTERNAL_ASSERT(q.scalar_type() == v.scalar_type());
  TORCH_CHECK_TYPE(k.dtype() == v.dtype(), "types");
  attend(q, k, v);
}

// Functions of ATen.
void ok_scalar_type(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  at::checkScalarType("f", {q, "q", 1}, at::kHalf);
  attend(q, k, k);
}
void ok_scalar_types(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  at::TensorArg argument{q, "q", 1};
  at::checkScalarTypes("f", argument, {at::kHalf, at::kBFloat16});
  attend(q, k, k);
}
void ok_same_type(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  at::TensorArg one{q, "q", 1}, other{k, "k", 2};
  at::checkSameType("f", one, other);
  attend(q, k, k);
}
void ok_all_same_type(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  at::TensorArg one{q, "q", 1}, other{k, "k", 2};
  at::checkAllSameType("f", {one, other});
  attend(q, k, k);
}
void bad_another(Tensor q, const Tensor& k, const Tensor& v) {
  q = q * torch::ones({64});  // expect: attention-implicit-promotion
  at::checkScalarType("f", {k, "k", 1}, at::kHalf);
  at::checkScalarTypes("f", {q, "q", 1}, {at::kHalf, at::kFloat});
  attend(q, k, k);
}
void bad_dimensions(const Tensor& q, const Tensor& table) {
  at::checkDim("f", at::TensorGeometryArg(at::TensorArg(table, "table", 1)), 2);
  attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}

// An answer that is compared with a literal proves what the answer does.
void bad_is_not_false(const Tensor& q, const Tensor& given, bool indices) {
  const Tensor wide = given.to(at::kFloat).view({4});  // expect: attention-mixed-dtypes
  const Tensor table = indices ? torch::zeros({4}, at::kLong) : wide;
  if (table.is_floating_point() == false) return;
  attend(q * table, q, q);
}
void bad_false_is_not(const Tensor& q, const Tensor& given, bool indices) {
  const Tensor wide = given.to(at::kFloat).view({4});  // expect: attention-mixed-dtypes
  const Tensor table = indices ? torch::zeros({4}, at::kLong) : wide;
  if (false != table.is_floating_point()) attend(q * table, q, q);
}
void ok_is_true(const Tensor& k, const Tensor& given, bool indices) {
  Tensor q = indices ? torch::zeros({4}, at::kLong) : given.to(at::kFloat);
  if (q.is_floating_point() == true) q = q.to(k.scalar_type());
  if (q.is_floating_point() == false) return;
  attend(q, k, k);
}
void ok_differs_from_true(const Tensor& k, const Tensor& given, bool indices) {
  Tensor q = indices ? torch::zeros({4}, at::kLong) : given.to(at::kFloat);
  if ((q.scalar_type() == at::kLong) != true) q = q.to(k.scalar_type());
  if (q.is_floating_point()) attend(q, k, k);
}
