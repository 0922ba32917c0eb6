// Attention written by hand: a product of matrices one of whose inputs derives from attention scores or from
// a rotary embedding, or whose result becomes scores. Such a call has no contract of its own, but it throws
// when its inputs differ. Lineage is what a tensor's history says about that; it travels with the
// alternative, and so do the products that it comes from: queries times keys without a rotary embedding are
// like any product, until a softmax takes the result, wherever that is, and another product takes the
// softmax.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

struct FunctionInfo;

inline constexpr std::uint8_t kNoLineage = 0;
inline constexpr std::uint8_t kTable = 1;       // of a cosine or sine
inline constexpr std::uint8_t kRotated = 2;     // a tensor times such a table
inline constexpr std::uint8_t kProduct = 4;     // of a product of matrices
inline constexpr std::uint8_t kScores = 8;      // a softmax of one, or one divided by its own sum
inline constexpr std::uint8_t kSum = 64;        // a sum of what the rest says
inline constexpr std::uint8_t kAttended = 128;  // scores times values
// Which of the two a table is, or was that the tensor was multiplied by: a rotation needs both.
inline constexpr std::uint8_t kCosine = 16;
inline constexpr std::uint8_t kSine = 32;

// Whether the operator is a product of matrices.
bool is_contraction(std::string_view op);
bool is_softmax(std::string_view op);
bool adds(std::string_view op);

// The lineage of an operator's result; `inputs` has one entry for each tensor that went in.
std::uint8_t lineage_after(std::string_view op, const std::vector<std::uint8_t>& inputs);

// Whether a tensor of that lineage was rotated: multiplied by a cosine and a sine.
bool is_turned(std::uint8_t lineage);
// Whether the operator makes a table that turns.
bool is_sine(std::string_view op);
// Whether a tensor of that lineage is, or was made by, rotation or attention that is written by hand.
bool is_of_attention_code(std::uint8_t lineage);
// Whether inputs of that lineage make a product one of attention.
bool is_of_attention(std::uint8_t lineage);
// Whether what goes into the operator goes on to where its result goes.
bool keeps_products(const Operator& op);

// Whether the contract is one of these.
bool is_product(const Api& api);
// The argument that such an operator adds to its product; empty where there is none.
std::string_view summand_of(std::string_view op);
// The contract of a product of matrices in attention; null: the operator is none, or an einsum that only
// multiplies.
const Api* product_contract(std::string_view op, const Instruction& instruction, const FunctionInfo& info);

}  // namespace dtype_guard::flow
