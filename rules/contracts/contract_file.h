// The text of a contract file, or a ContractError that says why there is none.
#pragma once

#include <filesystem>
#include <string>

namespace dtype_guard {

std::string contract_text(const std::filesystem::path& file);

}  // namespace dtype_guard
