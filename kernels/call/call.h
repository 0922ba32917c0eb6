// A Call is one entry into the library: it gives messages their prefix and keeps the last one of each thread.
// Nothing here allocates, so that an error can be reported when memory is short.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flash_ref/flash_ref.h"

namespace flash_ref {

class Call {
 public:
  // Clears this thread's message.
  explicit Call(const char* api);

  // Where the tensors of this call lie: on the device of the first one that was asked about. Fails for one on
  // another device, and for a device without kernels; `has_cuda` says whether those of CUDA have any.
  int check_device(const char* role, int type, int id, bool has_cuda) const;
  bool on_cuda() const { return device_type_ == kCuda; }
  int device() const { return device_id_; }

  // Records "API: MESSAGE" and returns `status`.
  int fail(flash_ref_status status, const char* format, ...) const __attribute__((format(printf, 3, 4)));

 private:
  static constexpr int kCpu = 1, kCuda = 2;  // DLPack's device types

  const char* api_;
  mutable const char* first_role_ = nullptr;
  mutable int device_type_ = kCpu, device_id_ = 0;
};

const char* last_message();

// A tuple as messages print it, "(2, 5, 4, 64)"; long ones are cut.
class TupleText {
 public:
  TupleText(const std::int64_t* values, int count);
  const char* c_str() const { return text_; }

 private:
  char text_[128];
};

// This thread's message as it is now, put back at the end of the scope.
class KeptMessage {
 public:
  static constexpr std::size_t kBytes = 512;
  KeptMessage();
  ~KeptMessage();
  KeptMessage(const KeptMessage&) = delete;
  KeptMessage& operator=(const KeptMessage&) = delete;

 private:
  char text_[kBytes];
};

}  // namespace flash_ref
