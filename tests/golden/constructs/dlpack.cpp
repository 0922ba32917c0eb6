// Tensors that go through DLPack and come back.
#include <ATen/DLConvertor.h>

#include "attention.h"

void bad_round_trip(const at::Tensor& x) {
  const auto h = x.to(at::kHalf);
  auto* managed = at::toDLPack(h * torch::rand({8}));  // expect: attention-implicit-promotion
  attend(at::fromDLPack(managed), h, h);
}
void ok_round_trip(const at::Tensor& x) {
  const auto h = x.to(at::kHalf);
  auto* managed = at::toDLPack((h * torch::rand({8})).to(at::kHalf));
  attend(at::fromDLPack(managed), h, h);
}
void ok_from_elsewhere(const at::Tensor& x, DLManagedTensor* managed) {
  const auto h = x.to(at::kHalf);
  attend(at::fromDLPack(managed), h, h);
}
