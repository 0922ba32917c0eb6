// The device that the code of a root names: where a program turns autocast on for the CPU and says nothing of
// an accelerator, what an accelerator's autocast does proves nothing. Elsewhere the device asked for holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/settings/analysis_options.h"

namespace dtype_guard::flow {

class NamedDevices {
 public:
  explicit NamedDevices(const FunctionIndex& index) : index_(index) {}
  // "cpu", or empty where the code of that root names none, or others as well.
  std::string of(std::uint32_t root);

 private:
  struct Said {
    bool cpu_autocast = false;  // turns it on
    bool cpu = false;           // names the CPU
    bool other = false;         // names an accelerator, or a device that is computed
    bool accelerator = false;
  };
  Said said_by(std::uint32_t function);
  bool any_cpu_autocast();

  const FunctionIndex& index_;
  std::optional<bool> any_cpu_autocast_;  // in some function
  std::map<std::uint32_t, Said> said_;    // by function
};

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
