#include "analyzer/driver/explaining.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "analyzer/driver/option_values.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/usage_error.h"
#include "rules/catalog/catalog.h"
#include "rules/contracts/listing.h"
#include "rules/operators/explain.h"
#include "rules/operators/operators.h"
#include "rules/operators/version.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard::driver {

namespace {

std::string nearest_known(const std::string& name, const ContractSet& contracts) {
  std::vector<std::string> known;
  for (const Operator& each : all_operators()) known.push_back(each.name);
  for (const Api& each : contracts.apis) known.push_back(each.name);
  return nearest_name(name, known);
}

}  // namespace

int explain(const std::string& id, const std::string& torch, const ContractSet& contracts) {
  const Rule* rule = find_rule(id);
  const std::string contract = rule ? "" : explain_contract(contracts, id);
  std::cout << contract;
  const Operator* op = rule ? nullptr : find_operator(id);
  if (op) {
    const std::vector<std::string> releases =
        torch.empty() ? std::vector<std::string>(kTorchReleases.begin(), kTorchReleases.end())
                      : read_torch_versions(torch);
    std::cout << (contract.empty() ? "" : "\n") << explain_operator(*op, releases.front(), releases.back());
    return 0;
  }
  if (!contract.empty()) return 0;
  if (!rule) {
    std::string near = nearest_rule(id);
    if (near.empty()) near = nearest_known(id, contracts);
    throw UsageError(
        fmt::format("--explain: no rule, function or operator '{}'{}; --list-rules and --list-contracts "
                    "print them all, and an operator "
                    "goes by PyTorch's name, such as 'mul'",
                    id, near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
  }
  std::cout << rule->text << (rule->text.ends_with('\n') ? "" : "\n");
  return 0;
}

int list_rules() {
  std::size_t width = 0;
  for (const Rule& rule : catalog()) width = std::max(width, rule.id.size());
  for (const Rule& rule : catalog()) std::cout << fmt::format("{:<{}}  {}\n", rule.id, width, rule.summary);
  return 0;
}

// Attention written out as matrix products has no API and so no contract, and is watched all the same.
int list_contracts(const ContractSet& contracts) {
  std::cout << dtype_guard::list_contracts(contracts)
            << "\nWatched as well: products of matrices on attention scores or on a rotary result. --explain "
               "NAME tells the "
               "spellings,\nautocast and versions of one; --contracts FILE adds functions of your own.\n";
  return 0;
}

}  // namespace dtype_guard::driver
