// What libraries of Python call that by which models run in a precision: trainers, accelerators, sharded
// models and what these are told. A row each; a name that only ends so is one as well where the row says it.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dtype_guard {

struct PrecisionName {
  std::string_view name;
  bool is_ending;
};
inline constexpr PrecisionName kPrecisionNames[] = {
    {"Accelerator", false},
    {"Fabric", false},
    {"FullyShardedDataParallel", false},
    {"fully_shard", false},
    {"MixedPrecision", false},
    {"MixedPrecisionPolicy", false},
    {"HfArgumentParser", false},
    {"deepspeed.initialize", true},
    {"deepspeed.init_inference", true},
    {"Trainer", true},
    {"TrainingArguments", true},
};

// Of a name with dots.
constexpr bool states_precision(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::any_of(std::begin(kPrecisionNames), std::end(kPrecisionNames), [&](const PrecisionName& each) {
    return each.is_ending ? name.ends_with(each.name) : last == each.name;
  });
}

}  // namespace dtype_guard
