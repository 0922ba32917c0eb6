// An expression's value in words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/flow/seen_values.h"

namespace dtype_guard::driver {

struct ValueWords {
  std::string dtype;   // "float32", "float16 or float32"; empty: nothing comes there
  std::string rank;    // "3-d"; empty: not known
  std::string origin;  // "promoted from float16 by 'mul' at a.py:3"
  friend bool operator==(const ValueWords&, const ValueWords&) = default;
};
using PlaceWords = std::function<std::string(const SourceLocation& place)>;
ValueWords value_words(const flow::SeenValue& value, const PlaceWords& place);

// In a few letters for all settings: "float32", "half", "half | float32". The half type is the setting's.
std::string short_words(const std::vector<flow::SeenValue>& values,
                        const std::vector<flow::PrecisionSetting>& settings);

}  // namespace dtype_guard::driver
