// What the checks know about dtypes: the contract of each API as a constant table. The tables themselves are
// in a header that generate_checks.cpp writes at build time from rules/contracts/flash_ref.json; this file is
// their form, which needs nothing from rules/.
#pragma once

#include <cstdint>
#include <string_view>

namespace flash_ref {

// DLPack's three numbers and PyTorch's name. Every dtype that DLPack can express has one entry in kDtypes.
struct NamedDtype {
  std::uint8_t code, bits;
  std::uint16_t lanes;
  const char* name;
};

struct OperandRule {
  const char* role;
  std::uint64_t accepts;       // bit i: kDtypes[i]; 0: same_as alone decides
  const char* accepted_names;  // "float16 or bfloat16"
  int same_as;                 // index of the operand whose dtype this one must have; -1: none
  bool optional;               // may be NULL
};

struct ApiRule {
  const char* name;
  const OperandRule* operands;  // in the order of the C signature
  int operand_count;
  const OperandRule* options;  // tensors that are members of the options
  int option_count;
  int index;                 // in kApiNames
  const char* const* roles;  // of the operands
};

// For static_assert: the C signature that a check was written for is the one that the contract describes.
template <class... Roles>
constexpr bool has_roles(const ApiRule& api, Roles... roles) {
  const std::string_view expected[] = {roles...};
  if (api.operand_count != static_cast<int>(sizeof...(Roles))) return false;
  for (int i = 0; i < api.operand_count; ++i) {
    if (expected[i] != api.operands[i].role) return false;
  }
  return true;
}

}  // namespace flash_ref
