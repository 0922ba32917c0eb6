// A rotary call whose tables have another dtype than x, which flash_ref refuses and dtype-san records.
#pragma once

#include <flash_ref/flash_ref.h>

#include <cstdint>

using Rotary = int (*)(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*,
                       const flash_ref_rotary_options*);

struct WrongCall {
  explicit WrongCall(std::uint16_t lanes = 1) {
    x.data = t.data = storage;
    x.device.device_type = t.device.device_type = static_cast<decltype(x.device.device_type)>(1);
    x.ndim = 4;
    x.shape = shape;
    x.dtype = {4, 16, 1};
    t.ndim = 2;
    t.shape = table;
    t.dtype = {2, 32, lanes};
  }
  WrongCall(const WrongCall&) = delete;
  WrongCall& operator=(const WrongCall&) = delete;

  std::int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
  std::uint32_t storage[2] = {0, 0};
  DLTensor x = {}, t = {};
};

inline int call_wrongly(std::uint16_t lanes = 1, Rotary rotary = flash_ref_rotary) {
  WrongCall call(lanes);
  int status = rotary(&call.x, &call.t, &call.t, &call.x, nullptr);
  return status;
}
