// isinstance(x, Cache): which of the things that a value may be are objects of a class.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/program/class_hierarchy.h"

namespace dtype_guard::flow {

// Nothing where that is not known: a caller may hand in an object of a class that derives from what it is
// said to be of.
std::optional<bool> is_instance(const Value& value, std::string_view class_name,
                                const ClassHierarchy& classes, const State& state);

// Whether all that it may be are objects of classes that surely do not derive from a tensor.
inline constexpr std::string_view kAsksForTensor = "is_tensor", kAsksForOther = "is_other_object";
bool are_other_objects(const Value& value, const ClassHierarchy& classes, const State& state);

struct LeftByClass {
  Value kept;
  bool is_open = false;  // beside these it may be an object of that class which is not in sight
};
LeftByClass left_by_class(const Value& asked, std::string_view class_name, const ClassHierarchy& classes,
                          const State& state, bool wanted);

}  // namespace dtype_guard::flow
