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

std::string explanation(const std::string& id, const std::string& torch, const ContractSet& contracts) {
  if (const Rule* rule = find_rule(id)) return rule->text + (rule->text.ends_with('\n') ? "" : "\n");
  const std::string contract = explain_contract(contracts, id);
  const Operator* op = find_operator(id);
  if (!op && contract.empty()) op = find_operator_by_last_word(id);
  if (!op) return contract;
  const std::vector<std::string> releases =
      torch.empty() ? std::vector<std::string>(kTorchReleases.begin(), kTorchReleases.end())
                    : read_torch_versions(torch);
  return contract + (contract.empty() ? "" : "\n") + explain_operator(*op, releases.front(), releases.back());
}

int explain(const std::string& id, const std::string& torch, const ContractSet& contracts) {
  const std::string text = explanation(id, torch, contracts);
  if (text.empty()) {
    std::string near = nearest_rule(id);
    if (near.empty()) near = nearest_known(id, contracts);
    throw UsageError(
        fmt::format("--explain: no rule, function or operator '{}'{}; --list-rules and --list-contracts "
                    "print them all, and an operator "
                    "goes by PyTorch's name, such as 'mul'",
                    id, near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
  }
  std::cout << text;
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
