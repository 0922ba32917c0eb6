// Stands in for the toolkit's header: asynchronous copies to shared memory.
#pragma once
#include <stddef.h>

#pragma clang force_cuda_host_device begin
void __pipeline_memcpy_async(void*, const void*, size_t, size_t = 0);
void __pipeline_commit();
void __pipeline_wait_prior(size_t);
#pragma clang force_cuda_host_device end
