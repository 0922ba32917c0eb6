// Stands in for a header that PyTorch's build writes, and that wheels without CUDA lack.
#pragma once
#define C10_CUDA_BUILD_SHARED_LIBS
