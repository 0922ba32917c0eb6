// The device that the code of a root names: where a program turns autocast on for the CPU and says nothing of
// an accelerator, what an accelerator's autocast does proves nothing. Elsewhere the device asked for holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/program/callers.h"
#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class NamedDevices {
 public:
  NamedDevices(const FunctionIndex& index, const Callers& callers) : index_(index), callers_(callers) {}
  // "cpu", or empty where the code of that root names none, or others as well.
  std::string of(std::uint32_t root);
  // Whether what some kernels of the device refuse may be taken: where it, or what runs it, chooses among
  // them or names the CPU and no accelerator, and where it asks for the device.
  bool may_have_others(std::uint32_t root);

 private:
  struct Said {
    bool cpu_autocast = false;  // turns it on
    bool cpu = false;           // names the CPU
    bool other = false;         // names an accelerator, or a device that is computed
    bool accelerator = false;
    bool asks = false;  // what device a tensor is on
  };
  Said said_by(std::uint32_t function);
  bool any_cpu_autocast();
  const std::vector<bool>& may_choose();
  bool name_cpu_alone(const std::set<std::uint32_t>& functions);

  const FunctionIndex& index_;
  const Callers& callers_;
  std::optional<bool> any_cpu_autocast_;         // in some function
  std::map<std::uint32_t, Said> said_;           // by function
  std::optional<std::vector<bool>> may_choose_;  // by function; empty: none chooses
};

}  // namespace dtype_guard::flow
