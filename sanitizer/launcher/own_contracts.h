// --contracts FILE: checked before anything starts, compiled to what the preloaded library reads
// (runtime/own_contracts.h), and known to the report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rules/contracts/contract.h"

namespace dtype_guard::san {

// Throws UsageError where a file cannot be used or says more than the library holds.
ContractSet read_own_contracts(const std::vector<std::string>& files);

// Throws UsageError when the file cannot be written.
void compile_contracts(const ContractSet& contracts, const std::filesystem::path& file);

// The option `contracts` names a compiled file: throws UsageError for one that the library would not take. ""
// is none.
void check_compiled_contracts(const std::string& file);

}  // namespace dtype_guard::san
