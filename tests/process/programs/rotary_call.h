/* Four calls of flash_ref_rotary through a pointer: the second and fourth with float32 tables, which it
 * refuses. */
#pragma once

#include <dlpack/dlpack.h>
#include <stdint.h>
#include <stdio.h>

typedef int (*rotary_function)(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*);

static inline int rotate_once(rotary_function rotary, int wrong) {
  int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
  uint32_t storage[4] = {0, 0, 0, 0};
  DLTensor x = {0}, t = {0};
  x.data = storage;
  t.data = storage + 2;
  *(int*)&x.device.device_type = *(int*)&t.device.device_type = 1;
  x.ndim = 4;
  x.shape = shape;
  x.dtype.code = t.dtype.code = 4;
  x.dtype.bits = t.dtype.bits = 16;
  x.dtype.lanes = t.dtype.lanes = 1;
  if (wrong) t.dtype.code = 2, t.dtype.bits = 32;
  t.ndim = 2;
  t.shape = table;
  int status = rotary(&x, &t, &t, &x, NULL);
  return status;
}

static inline void rotate_four_times(rotary_function rotary) {
  for (int i = 0; i < 4; ++i) printf("status %d\n", rotate_once(rotary, i % 2));
}
