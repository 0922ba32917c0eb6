// Every function that a contract describes, callable without knowing its parameters.
#pragma once

#include <vector>

namespace flash_ref_test {

struct EveryFunction {
  const char* name;
  int (*call_with_nulls)();
};

std::vector<EveryFunction> every_function();

}  // namespace flash_ref_test
