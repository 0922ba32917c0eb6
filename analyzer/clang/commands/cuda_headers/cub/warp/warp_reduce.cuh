// Stands in for CUB.
#pragma once
#include <cub/cub.cuh>
