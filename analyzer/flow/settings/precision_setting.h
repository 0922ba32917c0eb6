// A precision setting: what a model is run in, where its code leaves that open. The built-in ones are the
// rows of precision_settings.json.
#pragma once

#include <string>
#include <vector>

#include "rules/dtype/dtype.h"

namespace dtype_guard::flow {

// What a setting leaves to the code is decided by the code; this fills the rest. autocast empty: off.
struct PrecisionSetting {
  std::string name;  // "autocast-fp16"
  Dtype parameters = Dtype::kFloat32;
  Dtype buffers = Dtype::kFloat32;
  Dtype norms = Dtype::kFloat32;
  Dtype inputs = Dtype::kFloat32;
  Dtype autocast = Dtype::kUndefined;
  bool by_default = false;
};
Dtype other_half(Dtype dtype);  // of the two half types; any other is its own
// Whether one is the other with float16 and bfloat16 in each other's place.
bool are_twins(const PrecisionSetting& a, const PrecisionSetting& b);
// The rows of precision_settings.json, in file order.
const std::vector<PrecisionSetting>& precision_settings();

}  // namespace dtype_guard::flow
