// What is wrong with one observed call: the rule, the operands to blame, and the sentence that says so. Pure
// data in, pure data out, from the contract's rows and the dtypes that were seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/contracts/contract.h"
#include "rules/finding/finding.h"
#include "sanitizer/symbolize/journal_reader.h"

namespace dtype_guard::san {

struct Violation {
  std::string rule;
  std::vector<std::string> also_rules;
  std::vector<std::string> roles;  // to blame, in the contract's order
  std::string message;
};

// An operator of PyTorch's (sources/torch/operators.inc); contracts have names of their own.
bool is_torch_operator(const std::string& api);

Violation describe_violation(const std::string& api, ApiKind kind,
                             const std::vector<JournalOperand>& operands);

// Bits of the dtype `written` that were passed as operand `at`.
Violation describe_reinterpretation(const std::string& api, ApiKind kind,
                                    const std::vector<JournalOperand>& operands, std::size_t at,
                                    std::uint32_t written);

// Of a call that was recorded: what its operands break, or the bits that it was given.
Violation describe_violation(const JournalFinding& recorded, ApiKind kind);

// An operand that has a list of its own and may have another's dtype besides is bound to no other: its list
// takes that dtype in.
void settle_masks(std::vector<JournalOperand>& operands);

std::optional<Dtype> dtype_of(std::uint32_t packed);
// "float16" or, for what is no dtype, "dtype(code 7, bits 3, lanes 1)".
std::string dtype_text(std::uint32_t packed);

}  // namespace dtype_guard::san
