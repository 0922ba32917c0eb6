#include "sanitizer/launcher/own_contracts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "rules/contracts/own_contracts.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/launcher/output.h"

namespace dtype_guard::san {
namespace {

template <std::size_t N>
void put_name(char (&target)[N], const std::string& name) {
  if (name.empty() || name.size() >= N)
    throw UsageError{
        fmt::format("--contracts: '{}' is too long a name, expected at most {} characters", name, N - 1)};
  std::memcpy(target, name.c_str(), name.size());
}

std::uint32_t packed(Dtype dtype) {
  auto type = to_dlpack(dtype);
  return type ? std::uint32_t{type->code} << 16 | std::uint32_t{type->bits} << 8 | type->lanes : 0U;
}

CompiledOperand compile(const Api& api, const Operand& operand) {
  CompiledOperand compiled = {};
  put_name(compiled.role, operand.role);
  compiled.accepts_set = api.accepted(operand.role).bits();
  std::size_t count = 0;
  for (Dtype dtype : all_dtypes()) {
    if (!operand.accepts.contains(dtype) || packed(dtype) == 0) continue;
    if (count == kMaxAccepted)
      throw UsageError{fmt::format("--contracts: '{}' of '{}' accepts more than {} dtypes", operand.role,
                                   api.name, kMaxAccepted)};
    compiled.accepts[count++] = packed(dtype);
  }
  compiled.same_as = -1;
  for (std::size_t i = 0; i < api.operands.size(); ++i)
    if (api.operands[i].role == operand.same_as) compiled.same_as = static_cast<std::int32_t>(i);
  compiled.optional = operand.optional ? 1 : 0;
  compiled.output = operand.direction != Direction::kIn ? 1 : 0;
  compiled.input = operand.direction != Direction::kOut ? 1 : 0;
  return compiled;
}

// The names of records, with the position of each operand; -1: the record does not have it.
void compile_records(const Api& api, CompiledContract& compiled) {
  std::size_t count = 0;
  const auto add = [&](const std::string& name) -> CompiledRecord& {
    if (count == kMaxOwnRecords)
      throw UsageError{fmt::format("--contracts: '{}' has more than {} operators and autograd Functions",
                                   api.name, kMaxOwnRecords)};
    put_name(compiled.records[count].name, name);
    return compiled.records[count++];
  };
  for (const std::string& name : operator_records(api)) {
    CompiledRecord& record = add(name);
    for (std::size_t i = 0; i < api.operands.size(); ++i) record.arguments[i] = api.operands[i].argument;
  }
  if (api.autograd_function.empty()) return;
  CompiledRecord& record = add(api.autograd_function);
  for (std::size_t i = 0; i < api.operands.size(); ++i) {
    const auto at = std::find(api.autograd_tensors.begin(), api.autograd_tensors.end(), api.operands[i].role);
    record.arguments[i] =
        at != api.autograd_tensors.end() ? static_cast<std::int32_t>(at - api.autograd_tensors.begin()) : -1;
  }
}

CompiledContract compile(const Api& api) {
  CompiledContract compiled = {};
  put_name(compiled.name, api.name);
  compiled.kind = static_cast<std::uint32_t>(api.kind);
  if (api.operands.size() > kMaxOperands)
    throw UsageError{fmt::format("--contracts: '{}' has {} operands, at most {} can be watched", api.name,
                                 api.operands.size(), kMaxOperands)};
  compiled.operand_count = static_cast<std::uint32_t>(api.operands.size());
  compile_records(api, compiled);
  for (std::size_t i = 0; i < api.operands.size(); ++i) compiled.operands[i] = compile(api, api.operands[i]);
  return compiled;
}

}  // namespace

ContractSet read_own_contracts(const std::vector<std::string>& files) {
  ContractSet all;
  for (const std::string& file : files) {
    try {
      add_contracts(all, file);
    } catch (const ContractError& error) {
      throw UsageError{fmt::format("--contracts: {}", error.what())};
    }
  }
  if (all.apis.size() > kMaxOwnApis)
    throw UsageError{
        fmt::format("--contracts: {} APIs, at most {} can be watched", all.apis.size(), kMaxOwnApis)};
  for (const Api& api : all.apis) (void)compile(api);
  return all;
}

void compile_contracts(const ContractSet& contracts, const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary);
  CompiledContracts header = {kOwnContractsMagic, sizeof(CompiledContract),
                              static_cast<std::uint32_t>(contracts.apis.size()), 0};
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  for (const Api& api : contracts.apis) {
    CompiledContract compiled = compile(api);
    out.write(reinterpret_cast<const char*>(&compiled), sizeof compiled);
  }
  out.close();
  if (!out)
    throw UsageError{fmt::format("{}: the compiled contracts cannot be written there", file.string())};
}

void check_compiled_contracts(const std::string& file) {
  if (file.empty()) return;
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  CompiledContracts header = {};
  const bool read = static_cast<bool>(in.read(reinterpret_cast<char*>(&header), sizeof header));
  if (!in.is_open())
    throw UsageError{
        fmt::format("option 'contracts': '{}' cannot be opened: {}", file, std::strerror(errno))};
  if (!read || header.magic != kOwnContractsMagic || header.size != sizeof(CompiledContract))
    throw UsageError{fmt::format(
        "option 'contracts': '{}' is no compiled contract file of this version; give a JSON file to "
        "'dtype-san run --contracts'",
        file)};
}

}  // namespace dtype_guard::san
