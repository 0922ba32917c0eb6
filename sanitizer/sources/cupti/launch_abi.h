// What callbacks of the launch entry points and of graphs point to: the parameters of each entry point, as
// generated_cuda_runtime_api_meta.h and generated_cuda_meta.h declare them, and CUPTI's graph record.
// tests/unit/sanitizer/cupti_abi_test.cpp compares them with those headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::cupti {

struct Dimensions {
  std::uint32_t x, y, z;
};

// cuLaunchKernel, and cuLaunchCooperativeKernel, which ends before `extra`.
struct DriverLaunch {
  void* function;
  Dimensions grid, block;
  std::uint32_t shared_bytes;
  void* stream;
  void** arguments;
  void** extra;
};

// CUlaunchConfig as far as it is used.
struct LaunchConfig {
  Dimensions grid, block;
  std::uint32_t shared_bytes;
  void* stream;
};

// cuLaunchKernelEx
struct DriverLaunchEx {
  const LaunchConfig* config;
  void* function;
  void** arguments;
  void** extra;
};

// cudaGraphLaunch and cuGraphLaunch
struct GraphLaunch {
  void* executable;
  void* stream;
};

// Marks in `extra`: the arguments as one buffer, in any order.
constexpr std::uintptr_t kExtraEnd = 0, kExtraBuffer = 1, kExtraSize = 2;

// The handles that stand for the default streams.
constexpr std::uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

// CUpti_ResourceData
struct ResourceData {
  void* context;
  void* stream;
  const void* descriptor;
};

// CUpti_GraphData, which `descriptor` points to in callbacks about graphs
struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  std::int32_t node_type;
  void* dependency;
  void* executable;
};

}  // namespace dtype_guard::san::cupti
