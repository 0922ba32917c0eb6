// Host program of the build: contract file in, header with constant tables out, so that the kernels' dtype
// checks and the rules that the other tools apply are one text. Usage: flash_ref_generate_checks
// CONTRACTS.json OUTPUT.h
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "rules/contracts/contract.h"
#include "rules/dtype/dtype.h"

namespace {

using dtype_guard::Api;
using dtype_guard::DlpackType;
using dtype_guard::Operand;

struct Row {
  DlpackType type;
  std::string_view name;
};

// One row per DLPack type; where several dtypes share one, the first in PyTorch's order names it.
std::vector<Row> dlpack_rows() {
  std::vector<Row> rows;
  for (dtype_guard::Dtype dtype : dtype_guard::all_dtypes()) {
    const auto type = dtype_guard::to_dlpack(dtype);
    if (!type) continue;
    bool known = false;
    for (const Row& row : rows) known = known || row.type == *type;
    if (!known) rows.push_back({*type, dtype_guard::name(dtype)});
  }
  if (rows.size() > 64)
    throw std::runtime_error("more than 64 DLPack types; OperandRule::accepts has 64 bits");
  return rows;
}

std::uint64_t accepted_bits(const Operand& operand, const std::vector<Row>& rows) {
  std::uint64_t bits = 0;
  for (dtype_guard::Dtype dtype : dtype_guard::all_dtypes()) {
    if (!operand.accepts.contains(dtype)) continue;
    const auto type = dtype_guard::to_dlpack(dtype);
    if (!type) {
      throw std::runtime_error(operand.role + " accepts " + std::string(dtype_guard::name(dtype)) +
                               ", which DLPack cannot express");
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].type == *type) bits |= std::uint64_t{1} << i;
    }
  }
  return bits;
}

int index_of_role(const Api& api, const std::string& role) {
  for (std::size_t i = 0; i < api.operands.size(); ++i) {
    if (api.operands[i].role == role) return static_cast<int>(i);
  }
  return -1;
}

// flash_ref_attention_fwd -> FlashRefAttentionFwd
std::string camel_case(const std::string& name) {
  std::string result;
  bool upper = true;
  for (char c : name) {
    if (c != '_') result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return result;
}

void write_dtypes(std::ostream& out, const std::vector<Row>& rows) {
  out << "inline constexpr NamedDtype kDtypes[] = {\n";
  for (const Row& row : rows) {
    out << "    {" << unsigned{row.type.code} << ", " << unsigned{row.type.bits} << ", " << row.type.lanes
        << ", \"" << row.name << "\"},\n";
  }
  out << "};\n\n";
}

void write_rule(std::ostream& out, const Api& api, const Operand& operand, const std::vector<Row>& rows) {
  const int same_as = index_of_role(api, operand.same_as);
  if (same_as < 0 && operand.accepts.empty()) {
    throw std::runtime_error(api.name + ": nothing says which dtypes " + operand.role + " accepts");
  }
  out << "    {\"" << operand.role << "\", " << accepted_bits(operand, rows) << "U, \""
      << (operand.accepts.empty() ? "" : operand.accepts.describe()) << "\", " << same_as << ", "
      << (operand.optional ? "true" : "false") << "},\n";
}

void write_api(std::ostream& out, const Api& api, std::size_t index, const std::vector<Row>& rows) {
  std::string constant = "k";
  constant += camel_case(api.name);
  out << "inline constexpr OperandRule " << constant << "Operands[] = {\n";
  for (std::size_t i = 0; i < api.operands.size(); ++i) {
    const Operand& operand = api.operands[i];
    if (operand.argument != static_cast<int>(i)) {
      throw std::runtime_error(api.name + ": " + operand.role + " is argument " +
                               std::to_string(operand.argument) +
                               "; flash_ref's operands are its first arguments");
    }
    write_rule(out, api, operand, rows);
  }
  out << "};\n";
  std::string options = "nullptr";
  if (!api.options.empty()) {
    options = constant + "Options";
    out << "inline constexpr OperandRule " << options << "[] = {\n";
    for (const Operand& option : api.options) {
      if (!option.same_as.empty() && index_of_role(api, option.same_as) != 0)
        throw std::runtime_error(api.name + ": " + option.role + " can be like the first operand only");
      write_rule(out, api, option, rows);
    }
    out << "};\n";
  }
  out << "inline constexpr const char* " << constant << "Roles[] = {";
  for (const Operand& operand : api.operands) out << '"' << operand.role << "\", ";
  out << "};\ninline constexpr ApiRule " << constant << "{\"" << api.name << "\", " << constant
      << "Operands, " << api.operands.size() << ", " << options << ", " << api.options.size() << ", " << index
      << ", " << constant << "Roles};\n\n";
}

void generate(const char* contracts, const char* output) {
  const dtype_guard::ContractSet set = dtype_guard::load_contracts(contracts);
  const std::vector<Row> rows = dlpack_rows();
  std::ofstream out(output);
  out << "// Generated from rules/contracts/flash_ref.json by kernels/launch/generate_checks.cpp.\n"
         "#pragma once\n\n#include \"kernels/launch/contract_table.h\"\n\nnamespace flash_ref {\n\n";
  write_dtypes(out, rows);
  for (std::size_t i = 0; i < set.apis.size(); ++i) write_api(out, set.apis[i], i, rows);
  out << "inline constexpr const char* kApiNames[] = {\n";
  for (const Api& api : set.apis) out << "    \"" << api.name << "\",\n";
  out << "};\n\n}  // namespace flash_ref\n";
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + output);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: flash_ref_generate_checks CONTRACTS.json OUTPUT.h\n");
    return 2;
  }
  try {
    generate(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::remove(argv[2]);
    std::cerr << "flash_ref_generate_checks: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
