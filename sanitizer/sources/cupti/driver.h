// The few functions of the CUDA driver that the source calls from inside a launch callback: how a kernel's
// parameters lie, and events for the time that a cast takes. Looked up in the libcuda that is loaded; any may
// be missing, and what needs it is then left out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::cupti {

using DriverResult = std::int32_t;  // CUresult; 0: success

struct Driver {
  // CUDA 12.4 and later. What is launched is a function, or, as the runtime has it since CUDA 12, a kernel in
  // place of one, and each has a question of its own.
  DriverResult (*parameter_info)(void* function, std::size_t index, std::size_t* offset,
                                 std::size_t* size) = nullptr;
  DriverResult (*kernel_parameter_info)(void* kernel, std::size_t index, std::size_t* offset,
                                        std::size_t* size) = nullptr;
  DriverResult (*is_capturing)(void* stream, std::int32_t* status) = nullptr;
  DriverResult (*create_event)(void** event, std::uint32_t flags) = nullptr;
  DriverResult (*record_event)(void* event, void* stream) = nullptr;
  DriverResult (*query_event)(void* event) = nullptr;
  DriverResult (*elapsed_time)(float* milliseconds, void* start, void* stop) = nullptr;

  bool find_parameter(void* function, std::size_t index, std::size_t& offset, std::size_t& size) const {
    if (function == nullptr) return false;
    return (parameter_info != nullptr && parameter_info(function, index, &offset, &size) == 0) ||
           (kernel_parameter_info != nullptr && kernel_parameter_info(function, index, &offset, &size) == 0);
  }
  bool has_events() const {
    return is_capturing != nullptr && create_event != nullptr && record_event != nullptr &&
           query_event != nullptr && elapsed_time != nullptr;
  }
};

}  // namespace dtype_guard::san::cupti
