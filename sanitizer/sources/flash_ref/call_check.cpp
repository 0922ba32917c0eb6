#include "sanitizer/sources/flash_ref/call_check.h"

#include <flash_ref/flash_ref.h>

#include <cstddef>
#include <cstring>

namespace dtype_guard::san {
namespace {

bool takes(const OperandContract& contract, const DLTensor* const* operands, std::size_t at) {
  if (operands[at] == nullptr) return true;
  std::uint32_t word = dtype_word(*operands[at]);
  if (contract.same_as >= 0) {
    const DLTensor* other = operands[contract.same_as];
    if (other == nullptr || dtype_word(*other) == word) return true;
    if (contract.accepts[0] == 0) return false;
  }
  if (contract.accepts[0] == 0) return true;
  for (std::uint32_t entry : contract.accepts)
    if (entry != 0 && as_word(entry) == word) return true;
  return false;
}

struct OptionTensor {
  ApiId api;
  std::uint32_t end;  // of the member, in bytes
};
constexpr OptionTensor kOptionTensors[] = {
#define DTYPE_SAN_OPTION_TENSOR(function, type, member) \
  {ApiId::function, offsetof(type, member) + sizeof(type::member)},
#include "sanitizer/sources/flash_ref/option_tensors.inc"
#undef DTYPE_SAN_OPTION_TENSOR
};

}  // namespace

void check_options(Process& process, ApiId api, const DLTensor* const* operands, const void* options,
                   std::uintptr_t caller) {
  const ApiContract& contract = kOptionContracts[static_cast<std::size_t>(api)];
  const std::size_t count = kContracts[static_cast<std::size_t>(api)].operand_count;
  const DLTensor* all[kMaxOperands] = {};
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = operands[i];
    if (all[i] == nullptr && !contract.operands[i].optional) return;  // the kernel's to refuse, unread
  }
  std::uint32_t size = 0;
  std::memcpy(&size, options, sizeof size);  // what they begin with
  std::size_t at = count;
  bool good = true;
  for (const OptionTensor& tensor : kOptionTensors) {
    if (tensor.api != api) continue;
    const char* const member = static_cast<const char*>(options) + tensor.end - sizeof(const DLTensor*);
    if (size >= tensor.end) std::memcpy(&all[at], member, sizeof all[at]);
    good = good && takes(contract.operands[at], all, at);
    ++at;
  }
  if (!good) record_violation(process, {with_options(api), all, caller});
}

void before_own_call(Process& process, const WatchedCall& call, std::uintptr_t kernel) {
  if (count_call(process, call_slot(process), call.api)) record_first_call(process, call.api, kernel);
  const ApiContract& contract = contract_of(call.api);
  bool good = true;
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    if (call.operands[i] == nullptr && !contract.operands[i].optional) return;
    good = good && takes(contract.operands[i], call.operands, i);
  }
  if (!good) record_violation(process, call);
}

}  // namespace dtype_guard::san
