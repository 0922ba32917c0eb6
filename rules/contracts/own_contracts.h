// A project's own contract files on top of those that are known already. A later file may replace an API that
// was there; what it may not do is to give one name two meanings, because the meaning that loses would vanish
// without a word.
#pragma once

#include <filesystem>
#include <string>

#include "rules/contracts/contract.h"

namespace dtype_guard {

// Throws ContractError at the place in `file` that contradicts itself, `into` or the shipped contracts.
// The text of the file, which a pipe gives only once.
std::string add_contracts(ContractSet& into, const std::filesystem::path& file);

// Whether it is one of those that this build ships, and no project's own.
bool is_shipped(const Api& api);

}  // namespace dtype_guard
