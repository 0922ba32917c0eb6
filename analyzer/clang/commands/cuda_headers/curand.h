// Stands in for the toolkit's header.
#pragma once
#include <cuda_runtime_api.h>

typedef struct curandGenerator_st* curandGenerator_t;
typedef enum curandStatus { CURAND_STATUS_SUCCESS = 0 } curandStatus_t;
