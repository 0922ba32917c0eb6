// The options by which a root is evaluated.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analyzer/flow/roots/named_device.h"
#include "analyzer/flow/settings/analysis_options.h"

namespace dtype_guard::flow {

// What is asked for, on the device that the root's code names.
class OptionsByRoot {
 public:
  OptionsByRoot(const FunctionIndex& index, const AnalysisOptions& options)
      : devices_(index), options_(options) {}
  const AnalysisOptions& of(std::uint32_t root) {
    if (options_.device_named_by_user) return options_;
    const auto known = named_.try_emplace(root);
    std::string& device = known.first->second;
    if (known.second) device = devices_.of(root);
    if (device.empty() || device == options_.device) return options_;
    AnalysisOptions& other = others_.try_emplace(device, options_).first->second;
    other.device = device;
    return other;
  }

 private:
  NamedDevices devices_;
  const AnalysisOptions& options_;
  std::map<std::uint32_t, std::string> named_;
  std::map<std::string, AnalysisOptions> others_;
};

}  // namespace dtype_guard::flow
