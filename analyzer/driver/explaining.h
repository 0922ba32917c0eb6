// --explain, --list-rules and --list-contracts: what is printed instead of a report. Both give the exit
// status.
#pragma once

#include <string>

#include "rules/contracts/contract.h"

namespace dtype_guard::driver {

// The same as text; empty where there is no rule, function or operator of that name. Throws UsageError for
// releases that are none.
std::string explanation(const std::string& id, const std::string& torch, const ContractSet& contracts);
// `torch`: the releases between which to tell what changed; empty: all of them. Throws UsageError.
int explain(const std::string& id, const std::string& torch, const ContractSet& contracts);
int list_rules();
int list_contracts(const ContractSet& contracts);

}  // namespace dtype_guard::driver
