// One operator, several rules: which entry of the table an instruction means can hang on how it is called,
// with a rounding mode, with a flag for narrow indices, with an equation that sums over nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/values/values.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

struct FunctionInfo;

enum class Einsum : std::uint8_t { kUnknown, kSums, kMultiplies };

// Whether an einsum sums over anything: a letter of its inputs is missing from its output.
Einsum einsum_kind(const Instruction& instruction, const FunctionInfo& info);

// The entry of what an instruction calls; null: none, or what decides cannot be read. An einsum that sums
// over nothing multiplies element by element and promotes, so it has an entry of its own.
const Operator* operator_of(const Instruction& instruction, const FunctionInfo& info);

// What may be given for an argument.
struct GivenTensors {
  std::string_view argument;
  const std::vector<Alternative>* alternatives = nullptr;
};

// The entries that the dtypes and ranks of what is given choose among: several where they leave it open.
std::vector<const Operator*> forms_of_tensors(const Operator& op, const std::vector<GivenTensors>& given);

}  // namespace dtype_guard::flow
