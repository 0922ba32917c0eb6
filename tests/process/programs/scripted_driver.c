/* A libcuda as far as dtype-san uses one: parameters of the functions of scripted_cupti.h, and events whose
 * time is 2.5 ms. SCRIPTED_FAIL is honoured as there; SCRIPTED_CAPTURING=1: every stream is being captured;
 * SCRIPTED_KERNELS=1: what is launched are kernels (CUkernel), of which only cuKernelGetParamInfo knows.
 */
#include <stdint.h>
#include <stdlib.h>

#include "scripted_cupti.h"

int cuInit(unsigned flags);
int cuDeviceGetCount(int* count);
int cuFuncGetParamInfo(struct scripted_function* function, size_t index, size_t* offset, size_t* size);
int cuKernelGetParamInfo(struct scripted_function* kernel, size_t index, size_t* offset, size_t* size);
int cuStreamIsCapturing(void* stream, int* status);
int cuEventCreate(void** event, unsigned flags);
int cuEventRecord(void* event, void* stream);
int cuEventQuery(void* event);
int cuEventElapsedTime(float* milliseconds, void* start, void* stop);

static int initialised;

int cuInit(unsigned flags) {
  (void)flags;
  initialised = 1;
  return 0;
}

int cuDeviceGetCount(int* count) {
  if (!initialised) return 3;
  *count = 1;
  return 0;
}

static int parameter_info(struct scripted_function* function, size_t index, size_t* offset, size_t* size) {
  if (function == NULL || index >= 8 || function->sizes[index] == 0) return 1;
  size_t at = 0;
  for (size_t i = 0; i <= index; ++i) {
    const size_t alignment = function->sizes[i] % 8 == 0 ? 8 : function->sizes[i] % 4 == 0 ? 4 : 1;
    at = (at + alignment - 1) / alignment * alignment;
    *offset = at;
    at += function->sizes[i];
  }
  *size = function->sizes[index];
  return 0;
}

int cuFuncGetParamInfo(struct scripted_function* function, size_t index, size_t* offset, size_t* size) {
  const int failure = getenv("SCRIPTED_KERNELS") != NULL ? 400 : scripted_failure("cuFuncGetParamInfo", 999);
  return failure != 0 ? failure : parameter_info(function, index, offset, size);
}

int cuKernelGetParamInfo(struct scripted_function* kernel, size_t index, size_t* offset, size_t* size) {
  return getenv("SCRIPTED_KERNELS") != NULL ? parameter_info(kernel, index, offset, size) : 400;
}

int cuStreamIsCapturing(void* stream, int* status) {
  (void)stream;
  *status = getenv("SCRIPTED_CAPTURING") != NULL;
  return scripted_failure("cuStreamIsCapturing", 999);
}

int cuEventCreate(void** event, unsigned flags) {
  static char events[256];
  static int used;
  (void)flags;
  *event = &events[used++ % 256];
  return scripted_failure("cuEventCreate", 999);
}

int cuEventRecord(void* event, void* stream) {
  (void)event, (void)stream;
  return scripted_failure("cuEventRecord", 999);
}

int cuEventQuery(void* event) {
  (void)event;
  return scripted_failure("cuEventQuery", 600);
}

int cuEventElapsedTime(float* milliseconds, void* start, void* stop) {
  (void)start, (void)stop;
  *milliseconds = 2.5F;
  return scripted_failure("cuEventElapsedTime", 999);
}
