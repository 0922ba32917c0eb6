// Classes that other files know as well.
#pragma once
#include <ATen/core/Tensor.h>

class BadOfHeader {
 public:
  void set(const at::Tensor& s);
  void forward(const at::Tensor& q, const at::Tensor& k);

 private:
  at::Tensor scale_;
};
class OkUnseenSetter {
 public:
  void set(const at::Tensor& s);
  void set_half(const at::Tensor& s);  // stands in a file that is not here
  void forward(const at::Tensor& q, const at::Tensor& k);

 private:
  at::Tensor scale_;
};
struct OkOpenToAll {
  void set(const at::Tensor& s);
  void forward(const at::Tensor& q, const at::Tensor& k);
  at::Tensor scale;
};
class OkWithFriend {
 public:
  void set(const at::Tensor& s);
  void forward(const at::Tensor& q, const at::Tensor& k);

 private:
  friend class Loader;
  at::Tensor scale_;
};
class OkForDerived {
 public:
  void set(const at::Tensor& s);
  void forward(const at::Tensor& q, const at::Tensor& k);

 protected:
  at::Tensor scale_;
};
