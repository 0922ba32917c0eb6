// The device that the code of a root names: where a program turns autocast on for the CPU and says nothing of
// an accelerator, what an accelerator's autocast does proves nothing. Elsewhere the device asked for holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class NamedDevices {
 public:
  explicit NamedDevices(const FunctionIndex& index) : index_(index) {}
  // "cpu", or empty where the code of that root names none, or others as well.
  std::string of(std::uint32_t root);
  // Whether it chooses among a device's kernels: what some of them refuse, others take.
  bool chooses_kernels(std::uint32_t root);

 private:
  struct Said {
    bool cpu_autocast = false;  // turns it on
    bool cpu = false;           // names the CPU
    bool other = false;         // names an accelerator, or a device that is computed
    bool accelerator = false;
  };
  Said said_by(std::uint32_t function);
  bool any_cpu_autocast();
  const std::set<std::uint32_t>& choose_kernels();

  const FunctionIndex& index_;
  std::optional<bool> any_cpu_autocast_;                   // in some function
  std::map<std::uint32_t, Said> said_;                     // by function
  std::optional<std::set<std::uint32_t>> choose_kernels_;  // functions
};

}  // namespace dtype_guard::flow
