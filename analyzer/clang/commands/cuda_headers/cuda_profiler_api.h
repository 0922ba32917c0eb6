// Stands in for the toolkit's header.
#pragma once
#include <cuda_runtime_api.h>

cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
