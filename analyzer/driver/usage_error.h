// What is wrong with the command line or a file that it names.
#pragma once

#include <stdexcept>

namespace dtype_guard::driver {

// What is wrong with the command line or a file that it names, and what to do; exit 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dtype_guard::driver
