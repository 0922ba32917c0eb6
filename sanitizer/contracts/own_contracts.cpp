#include "sanitizer/contracts/own_contracts.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san {
namespace {

std::size_t own_count = 0;

bool ends(const char* text, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    if (text[i] == '\0') return i != 0;
  return false;
}

bool is_sound(const CompiledContract& contract) {
  if (!ends(contract.name, sizeof contract.name) || contract.operand_count > kMaxOperands) return false;
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const CompiledOperand& operand = contract.operands[i];
    if (!ends(operand.role, sizeof operand.role) || operand.same_as < -1 ||
        operand.same_as >= static_cast<std::int32_t>(contract.operand_count))
      return false;
  }
  for (const CompiledRecord& record : contract.records)
    if (record.name[0] != '\0' && !ends(record.name, sizeof record.name)) return false;
  return true;
}

void take(const CompiledRecord& from, std::size_t own) {
  if (from.name[0] == '\0') return;
  RecordRow& to = own_records[own_record_count++];
  to = {from.name, static_cast<ApiId>(kApiCount + own), false, false, false, AcceptedMix::kNone, {}};
  for (std::size_t i = 0; i < kMaxOperands; ++i) to.arguments[i] = from.arguments[i];
}

void take(const CompiledContract& from, ApiContract& to) {
  to.name = from.name;
  to.operand_count = from.operand_count;
  for (std::size_t i = 0; i < from.operand_count; ++i) {
    const CompiledOperand& operand = from.operands[i];
    to.operands[i] = {operand.role,          {},
                      operand.accepts_set,   operand.same_as,
                      operand.optional != 0, operand.output != 0,
                      operand.input != 0};
    for (std::size_t j = 0; j < kMaxAccepted; ++j) to.operands[i].accepts[j] = operand.accepts[j];
  }
}

bool read_whole(int file, void* into, std::size_t size) {
  return read_bytes(file, into, size) == static_cast<long>(size);
}

bool load(int file, const char*& problem) {
  CompiledContracts header = {};
  if (!read_whole(file, &header, sizeof header) || header.magic != kOwnContractsMagic ||
      header.size != sizeof(CompiledContract)) {
    problem = "is no compiled contract file of this version; give the JSON file to dtype-san run --contracts";
    return false;
  }
  if (header.count > kMaxOwnApis) {
    problem = "holds too many contracts";
    return false;
  }
  std::size_t size = header.count * sizeof(CompiledContract);
  void* memory =
      size == 0 ? nullptr : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || (memory != nullptr && !read_whole(file, memory, size))) {
    problem = "could not be read whole";
    return false;
  }
  const auto* compiled = static_cast<const CompiledContract*>(memory);
  for (std::size_t i = 0; i < header.count; ++i) {
    if (!is_sound(compiled[i])) {
      problem = "is damaged";
      own_count = own_record_count = 0;
      return false;
    }
    take(compiled[i], own_contracts[i]);
    for (const CompiledRecord& record : compiled[i].records) take(record, i);
    own_count = i + 1;
  }
  return true;
}

}  // namespace

bool load_own_contracts(const char* path, const char*& problem) {
  long opened = open_file(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (opened < 0) {
    problem = "cannot be opened";
    return false;
  }
  bool good = load(static_cast<int>(opened), problem);
  close_file(static_cast<int>(opened));
  return good;
}

std::size_t own_contract_count() { return own_count; }

}  // namespace dtype_guard::san
