#include "analyzer/flow/operators/shape_questions.h"

#include <algorithm>
#include <array>

namespace dtype_guard::flow {
namespace {
constexpr std::array<ShapeQuestion, 15> kQuestions = {{
    {"dim", "dim", true, true},
    {"get_device", "device", true, false},
    {"is_contiguous", "is_contiguous", true, false},
    {"is_cpu", "device", true, false},
    {"is_cuda", "device", true, false},
    {"item", "item", true, false},
    {"length", "length", true, true},
    {"ndimension", "dim", true, true},
    {"numel", "size", true, true},
    {"size", "size", true, true},
    {"sizes", "size", true, false},
    {"stride", "size", true, false},
    {"strides", "size", true, false},
    {"sym_size", "size", false, true},
    {"sym_sizes", "size", true, false},
}};
}  // namespace

const ShapeQuestion* find_shape_question(std::string_view name) {
  const auto* const found = std::find_if(kQuestions.begin(), kQuestions.end(),
                                         [&](const ShapeQuestion& each) { return each.name == name; });
  return found == kQuestions.end() ? nullptr : found;
}

}  // namespace dtype_guard::flow
