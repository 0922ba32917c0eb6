// The part of CUPTI's binary interface that the source uses, declared here so that neither the build nor the
// watched job needs the CUDA toolkit. tests/unit/sanitizer/cupti_abi_test.cpp compares every number and
// member with cupti.h where that is installed (CUDA 13).
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::cupti {

using Result = std::int32_t;  // CUptiResult
constexpr Result kSuccess = 0;
constexpr Result kInvalidParameter = 1;
constexpr Result kMultipleSubscribers = 39;

using Subscriber = void*;  // CUpti_SubscriberHandle

enum Domain : std::uint32_t { kDriverApi = 1, kRuntimeApi = 2, kResource = 3 };

// The callback ids of the launch entry points; "_ptsz" are those of the per-thread default stream.
enum RuntimeCallback : std::uint32_t {
  kCudaLaunchKernel = 211,
  kCudaLaunchKernelPtsz = 214,
  kCudaLaunchCooperativeKernel = 269,
  kCudaLaunchCooperativeKernelPtsz = 270,
  kCudaGraphLaunch = 311,
  kCudaGraphLaunchPtsz = 312,
  kCudaLaunchKernelExC = 430,
  kCudaLaunchKernelExCPtsz = 431,
};
enum DriverCallback : std::uint32_t {
  kCuLaunchKernel = 307,
  kCuLaunchKernelPtsz = 442,
  kCuLaunchCooperativeKernel = 477,
  kCuLaunchCooperativeKernelPtsz = 478,
  kCuGraphLaunch = 514,
  kCuGraphLaunchPtsz = 515,
  kCuLaunchKernelEx = 652,
  kCuLaunchKernelExPtsz = 653,
};
enum ResourceCallback : std::uint32_t { kGraphNodeCreated = 13, kGraphExecCreated = 18 };

enum CallbackSite : std::int32_t { kEnter = 0, kExit = 1 };

// CUpti_CallbackData
struct CallbackData {
  CallbackSite site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;  // the kernel's mangled name, in launch callbacks only
  void* context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;  // scratch that ENTER and EXIT of one call share
  std::uint32_t correlation_id;
};

using Callback = void (*)(void* user_data, std::uint32_t domain, std::uint32_t id, const void* data);

// CUpti_SubscriberParams as CUDA 13.0 has it: asks for a subscription under a name, and tells who holds it if
// refused. Exactly this size: a libcupti refuses one that is larger than its own.
struct SubscriberParameters {
  std::size_t struct_size;
  const char* subscriber_name;  // at most 53 characters
  char* old_subscriber_name;    // receives the holder's name
  std::size_t old_subscriber_size;
};
constexpr std::size_t kHolderNameSize = 64;

// The functions used, as found in a libcupti; any may be missing in an old one.
struct Functions {
  Result (*subscribe)(Subscriber* subscriber, Callback callback, void* user_data) = nullptr;
  Result (*subscribe_v2)(Subscriber* subscriber, Callback callback, void* user_data,
                         SubscriberParameters* parameters) = nullptr;
  Result (*unsubscribe)(Subscriber subscriber) = nullptr;
  Result (*enable_callback)(std::uint32_t enable, Subscriber subscriber, std::uint32_t domain,
                            std::uint32_t id) = nullptr;
  Result (*result_string)(Result result, const char** text) = nullptr;
};

}  // namespace dtype_guard::san::cupti
