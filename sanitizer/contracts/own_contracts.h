// Contracts of the user's own APIs: `dtype-san run --contracts FILE` checks the file, compiles it to the form
// below and names it in the option `contracts`. They hold for calls that an observer slot tells of, since
// there is no interceptor that carries such a name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/contract_table.h"

namespace dtype_guard::san {

// The compiled file: this header, then `count` contracts. Fixed sizes, names ended by zeros, read once into
// memory.
inline constexpr std::uint32_t kOwnContractsMagic = 0x31435344;  // "DSC1"
struct CompiledOperand {
  char role[32];
  std::uint64_t accepts_set;
  std::uint32_t accepts[kMaxAccepted];
  std::int32_t same_as;
  std::uint32_t optional, output, input;
};
struct CompiledContract {
  char name[128];
  std::uint32_t kind;  // ApiKind
  std::uint32_t operand_count;
  CompiledOperand operands[kMaxOperands];
};
struct CompiledContracts {
  std::uint32_t magic;
  std::uint32_t size;  // of a CompiledContract
  std::uint32_t count;
  std::uint32_t reserved;
};

// Reads the compiled file once; false when it is none, `problem` then says why.
bool load_own_contracts(const char* path, const char*& problem);
std::size_t own_contract_count();

inline constinit ApiContract own_contracts[kMaxOwnApis] = {};

// By number (contract_table.h).
inline const ApiContract& contract_of(ApiId api) {
  auto index = static_cast<std::size_t>(api);
  if (index < kApiCount) return kContracts[index];
  if (index < kFirstRecordApi) return own_contracts[index - kApiCount];
  return index < kFirstWithOptions ? kRecordContracts[index - kFirstRecordApi]
                                   : kOptionContracts[index - kFirstWithOptions];
}

}  // namespace dtype_guard::san
