// The options by which a root is evaluated.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analyzer/flow/program/program.h"
#include "analyzer/flow/roots/named_device.h"
#include "analyzer/flow/settings/analysis_options.h"

namespace dtype_guard::flow {

// What is asked for, on the device that the root's code names and with the kernels that it chooses.
class OptionsByRoot {
 public:
  OptionsByRoot(const Program& program, const AnalysisOptions& options)
      : devices_(program.functions, program.callers), options_(options) {}
  const AnalysisOptions& of(std::uint32_t root) {
    const auto known = named_.try_emplace(root);
    Named& named = known.first->second;
    if (known.second) {
      if (!options_.device_named_by_user) named.device = devices_.of(root);
      if (named.device.empty()) named.device = options_.device;
      named.kernels = devices_.may_have_others(root);
    }
    if (named == Named{options_.device, options_.kernels_chosen}) return options_;
    AnalysisOptions& other = others_.try_emplace(named, options_).first->second;
    other.device = named.device;
    other.kernels_chosen = named.kernels;
    return other;
  }

 private:
  struct Named {
    std::string device;
    bool kernels = false;
    auto operator<=>(const Named&) const = default;
  };
  NamedDevices devices_;
  const AnalysisOptions& options_;
  std::map<std::uint32_t, Named> named_;
  std::map<Named, AnalysisOptions> others_;
};

}  // namespace dtype_guard::flow
