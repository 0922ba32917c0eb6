// Stands in for the toolkit's header.
#pragma once
#include <cuda_pipeline.h>
