// Stands in for the toolkit's header.
#pragma once
#include <curand_kernel.h>
