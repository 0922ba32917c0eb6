// Hands libtorch tensors to flash_ref: DlpackView is a DLTensor over a tensor's memory, for as long as it
// lives.
#pragma once

#include <ATen/DLConvertor.h>
#include <ATen/core/Tensor.h>
#include <flash_ref/flash_ref.h>

#include <stdexcept>

class DlpackView {
 public:
  explicit DlpackView(const at::Tensor& tensor) : managed_(at::toDLPack(tensor)) {}
  ~DlpackView() { managed_->deleter(managed_); }
  DlpackView(const DlpackView&) = delete;
  DlpackView& operator=(const DlpackView&) = delete;

  operator const DLTensor*() const { return &managed_->dl_tensor; }
  operator DLTensor*() { return &managed_->dl_tensor; }

 private:
  DLManagedTensor* managed_;
};

// Turns a kernel's status into an exception that carries the kernel's own words.
inline void require_ok(int status) {
  if (status != 0) throw std::runtime_error(flash_ref_last_error());
}
