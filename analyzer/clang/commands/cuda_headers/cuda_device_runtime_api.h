// Stands in for the toolkit's header.
#pragma once
#include <cuda_runtime_api.h>
