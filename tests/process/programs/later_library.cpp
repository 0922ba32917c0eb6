// A library that calls a kernel and is opened while the program runs.
#include <flash_ref/flash_ref.h>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) int rotate_mixed() {
  std::int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
  std::uint32_t storage[2] = {0, 0};
  DLTensor x = {}, t = {};
  x.data = t.data = storage;
  x.device.device_type = t.device.device_type = static_cast<decltype(x.device.device_type)>(1);
  x.ndim = 4;
  x.shape = shape;
  x.dtype = {4, 16, 1};
  t.ndim = 2;
  t.shape = table;
  t.dtype = {2, 32, 1};
  int status = flash_ref_rotary(&x, &t, &t, &x, nullptr);  // call: later
  return status;
}
