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
  std::string origin;  // "from float16 by 'mul' at a.py:3"
  friend bool operator==(const ValueWords&, const ValueWords&) = default;
};
using PlaceWords = std::function<std::string(const SourceLocation& place)>;
ValueWords value_words(const flow::SeenValue& value, const PlaceWords& place);

// One for each setting, with what every function that was made of the expression gives.
std::vector<flow::SeenValue> by_setting(const std::vector<flow::SeenValue>& values);

// In a few letters for all settings: "float32", "half", "float32 | half". "half" is the setting's half type,
// where each has its own; else they go by their names.
std::string short_words(const std::vector<flow::SeenValue>& values,
                        const std::vector<flow::PrecisionSetting>& settings);

}  // namespace dtype_guard::driver
