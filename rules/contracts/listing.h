// Which functions have a contract and what they take, in words.
#pragma once

#include <string>

#include "rules/contracts/contract.h"

namespace dtype_guard {

// A line for each: "mha_fwd  flash_attn  attention: q float16 or bfloat16; k, v as q; alibi_slopes float32".
// By library, then as the file has them.
std::string list_contracts(const ContractSet& contracts);
// All of that name or spelling, or else of which a spelling ends with it as a word ("nn.MultiheadAttention"):
// how it is called, each operand, autocast and where the rule is written. Empty: there is none.
std::string explain_contract(const ContractSet& contracts, const std::string& name);

}  // namespace dtype_guard
