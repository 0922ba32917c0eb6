// What a condition asks, apart from where it stands: two conditions that ask the same of the same values have
// one answer. And what is known of a number that a condition compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

struct Question {
  std::string name;
  std::vector<Value> of;
  Nature nature = Nature::kAnswer;
};

struct Bounds {
  std::optional<std::int64_t> least, most;  // inclusive
};

}  // namespace dtype_guard::flow
