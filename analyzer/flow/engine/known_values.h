// Numbers that are known, and lists whose elements are counted: how two of them compare, what arithmetic
// makes of them, and whether they are true.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/flow/engine/identities.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// A real number, told from others by its place in the order of all.
Alternative real_number(double value);
// Of what are numbers, flags or texts that are known each; `name` is a comparison.
std::optional<bool> compared_numbers(std::string_view name, const Alternative& a, const Alternative& b);
// Whether it holds whichever of its alternatives each is.
std::optional<bool> compared_numbers(std::string_view name, const Value& a, const Value& b);
// What an operator makes of two numbers, or of one, where it is known.
std::optional<Alternative> computed_number(std::string_view name, const std::vector<const Value*>& of);
// A list, or a container of modules that has its parts in order.
bool is_list(const HeapObject* object);
// Whether it is known how many elements there are, and which of them stands where.
bool is_counted(const HeapObject& list);
// How many elements a list surely has; nothing where that is not known.
std::optional<std::size_t> count_of(const Value& list, const State& state, const Identities& ids);
// As truth(value), of lists, dictionaries and texts too.
std::optional<bool> truth(const Value& value, const State& state, const Identities& ids);

}  // namespace dtype_guard::flow
