// Translation units that have main: their calls are all in sight, so nothing outside hands them inputs. What
// they include from headers and do not call waits for other files.
#pragma once

#include <cstdint>
#include <set>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

class UnitsWithMain {
 public:
  explicit UnitsWithMain(const Module& module);
  // Whether a unit without main has the function: a caller may stand outside of what is analysed.
  bool is_open(const Function& function) const;
  // Whether it is from a header, and only units with main have it.
  bool waits(const Function& function) const {
    return !is_open(function) && !main_files_.contains(function.range.file);
  }

 private:
  std::set<std::uint32_t> units_, main_files_;
};

}  // namespace dtype_guard::flow
