// isinstance(x, torch.Tensor), callable(x): what kind of thing a value is, where the code shows it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/flow/engine/memory/memory.h"

namespace dtype_guard::flow {

// Of the question `is_tensor`, `is_number`, `is_whole`, `is_real`, `is_text`, `is_function`, `is_sequence` (a
// list or a tuple), `is_list`, `is_tuple` or `is_dictionary`; nothing where it is none of these, or not
// known. What a setting hands in is not known: a caller may hand over something else.
std::optional<bool> is_of_kind(std::string_view question, const Value& value, const State& state);
// What a value may be behind such a question, `defined` or `is_floating_point` that was answered so; the
// value itself where it is none of these.
Value left_by_test(std::string_view test, const Value& asked, const State& state, bool wanted);

// Where whether there is a tensor was all that was open, and is asked now, the answer's guard says it: what
// is left depends on nothing more. So does the only one that is left: the guard asks what all of them
// depended on, and the answer is that it is this one.
std::vector<Alternative> answered(const Value& asked, std::vector<Alternative> kept);
bool has_none(const Value& asked);

}  // namespace dtype_guard::flow
