// A class that other files may derive from.
#pragma once
#include <ATen/core/Tensor.h>

struct OkBaseOfHeader {
  virtual ~OkBaseOfHeader() = default;
  virtual at::Tensor apply(const at::Tensor& x) = 0;
};
