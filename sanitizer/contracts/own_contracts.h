// Contracts of the user's own APIs: `dtype-san run --contracts FILE` checks the file, compiles it to the form
// below and names it in the option `contracts`. They hold for calls that an observer slot or a record of
// PyTorch's tells of, since there is no interceptor that carries such a name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/contract_table.h"

namespace dtype_guard::san {

// The compiled file: this header, then `count` contracts. Fixed sizes, names ended by zeros, read once into
// memory.
inline constexpr std::uint32_t kOwnContractsMagic = 0x32435344;  // "DSC2"
struct CompiledOperand {
  char role[32];
  std::uint64_t accepts_set;
  std::uint32_t accepts[kMaxAccepted];
  std::int32_t same_as;
  std::uint32_t optional, output, input;
};
// A record of PyTorch's that is the call: an operator of the dispatcher, or an autograd Function.
struct CompiledRecord {
  char name[80];  // empty: none
  std::int32_t arguments[kMaxOperands];
};
inline constexpr std::size_t kMaxOwnRecords = 4;  // of a contract
struct CompiledContract {
  char name[128];
  std::uint32_t kind;  // ApiKind
  std::uint32_t operand_count;
  CompiledOperand operands[kMaxOperands];
  CompiledRecord records[kMaxOwnRecords];
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

// The user's rows come before those of kRecords.
inline constinit RecordRow own_records[kMaxOwnApis * kMaxOwnRecords] = {};
inline constinit std::size_t own_record_count = 0;
inline const RecordRow& record_row(std::size_t index) {
  return index < own_record_count ? own_records[index] : kRecords[index - own_record_count];
}

// By number (contract_table.h).
inline const ApiContract& contract_of(ApiId api) {
  auto index = static_cast<std::size_t>(api);
  if (index < kApiCount) return kContracts[index];
  if (index < kFirstRecordApi) return own_contracts[index - kApiCount];
  return index < kFirstWithOptions ? kRecordContracts[index - kFirstRecordApi]
                                   : kOptionContracts[index - kFirstWithOptions];
}

}  // namespace dtype_guard::san
