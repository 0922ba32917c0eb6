// isinstance(x, torch.Tensor), callable(x): what kind of thing a value is, where the code shows it.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/flow/engine/memory/memory.h"

namespace dtype_guard::flow {

// Of the question `is_tensor`, `is_number`, `is_text`, `is_function`, `is_sequence` (a list or a tuple),
// `is_list`, `is_tuple` or `is_dictionary`; nothing where it is none of these, or not known. What a setting
// hands in is not known: a caller may hand over something else.
std::optional<bool> is_of_kind(std::string_view question, const Value& value, const State& state);

}  // namespace dtype_guard::flow
