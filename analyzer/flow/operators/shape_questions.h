// Questions about a tensor's shape or place, by the names that libraries give them.
#pragma once

#include <string_view>

namespace dtype_guard::flow {

struct ShapeQuestion {
  std::string_view name;
  std::string_view subject;  // what it is a question of: others of that subject have one answer with it
  bool of_scalars;           // scalar_operation() answers it: what led a tensor here does not decide it
  bool never_negative;       // the answer is a number of which that is known
};
// Null: it is no such question.
const ShapeQuestion* find_shape_question(std::string_view name);

}  // namespace dtype_guard::flow
