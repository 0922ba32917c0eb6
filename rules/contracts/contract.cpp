#include "rules/contracts/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "rules/contracts/contract_file.h"
#include "rules/data/embedded.h"
#include "rules/files/input_file.h"
#include "rules/operators/version.h"

namespace dtype_guard {

bool Operand::takes(Dtype dtype, Dtype reference) const {
  if (accepts.contains(dtype)) return true;
  if (same_as.empty()) return false;
  return reference == Dtype::kUndefined || dtype == reference;
}

AutocastBehaviour Api::autocast_at(std::string_view device, std::string_view torch_version) const {
  const auto behaviour = autocast.find(std::string(device));
  if (behaviour == autocast.end()) return AutocastBehaviour::kAsIs;
  const auto from = autocast_since.find(behaviour->first);
  const bool early =
      from != autocast_since.end() && parse_torch_version(torch_version) < parse_torch_version(from->second);
  return early ? AutocastBehaviour::kAsIs : behaviour->second;
}

bool Api::holds_for(std::string_view library_version) const {
  if (library_version.empty()) return until.empty();
  const TorchVersion version = parse_torch_version(library_version);
  if (!since.empty() && version < parse_torch_version(since)) return false;
  return until.empty() || version < parse_torch_version(until);
}

bool Api::holds_on(std::string_view device) const {
  return device.empty() || devices.empty() || devices.contains(std::string(device));
}

const Operand* Api::find(std::string_view role) const {
  const auto found =
      std::find_if(operands.begin(), operands.end(), [&](const Operand& o) { return o.role == role; });
  return found == operands.end() ? nullptr : &*found;
}

DtypeSet Api::accepted(std::string_view role) const {
  DtypeSet all;
  // same_as never runs in a circle (the reader refuses that), so the number of operands bounds the walk.
  const Operand* operand = find(role);
  for (std::size_t step = 0; operand != nullptr && step <= operands.size(); ++step) {
    all = DtypeSet::from_bits(all.bits() | operand->accepts.bits());
    operand = operand->same_as.empty() ? nullptr : find(operand->same_as);
  }
  return all;
}

bool Api::is_spelt(std::string_view spelling) const {
  return name == spelling || std::find(spellings.begin(), spellings.end(), spelling) != spellings.end();
}

bool hold_together(const Api& a, const Api& b) {
  const auto before = [](const Api& one, const Api& other) {
    return !one.until.empty() && !other.since.empty() &&
           parse_torch_version(one.until) <= parse_torch_version(other.since);
  };
  const bool on_one_device =
      a.devices.empty() ||
      std::any_of(a.devices.begin(), a.devices.end(), [&](const auto& each) { return b.holds_on(each); });
  return on_one_device && !before(a, b) && !before(b, a);
}

std::vector<std::string> version_changes(const ContractSet& contracts, std::string_view library) {
  std::vector<std::string> changes;
  for (const Api& api : contracts.apis) {
    if (api.library != library) continue;
    for (const std::string& each : {api.since, api.until}) {
      const auto same = [&](const std::string& other) {
        return parse_torch_version(other) == parse_torch_version(each);
      };
      if (!each.empty() && std::none_of(changes.begin(), changes.end(), same)) changes.push_back(each);
    }
  }
  std::sort(changes.begin(), changes.end(), [](const std::string& a, const std::string& b) {
    return parse_torch_version(a) < parse_torch_version(b);
  });
  return changes;
}

const Api* ContractSet::find(std::string_view spelling) const {
  if (spelling.starts_with("::")) spelling.remove_prefix(2);
  const auto found =
      std::find_if(apis.begin(), apis.end(), [&](const Api& api) { return api.is_spelt(spelling); });
  return found == apis.end() ? nullptr : &*found;
}

const Api* ContractSet::named(std::string_view spelling, std::string_view torch_version,
                              std::string_view device) const {
  const Api* any = find(spelling);
  if (any == nullptr) return nullptr;
  // A canonical name is no other API's spelling here, even where a user's file has taken it over for calls.
  const bool is_name =
      std::any_of(apis.begin(), apis.end(), [&](const Api& api) { return api.name == spelling; });
  const std::string_view name = is_name ? spelling : std::string_view(any->name);
  const auto found = std::find_if(apis.begin(), apis.end(), [&](const Api& api) {
    if (api.name != name || !api.holds_on(device)) return false;
    if (api.library == "torch") return api.holds_for(torch_version);
    const auto known = versions.find(api.library);
    return api.holds_for(known == versions.end() ? "" : known->second);
  });
  return found == apis.end() ? nullptr : &*found;
}

ContractError::ContractError(std::string in_file, int at_line, std::string at_pointer, std::string problem)
    : std::runtime_error(at_line > 0 ? fmt::format("{}:{}: {}: {}", in_file, at_line,
                                                   at_pointer.empty() ? "/" : at_pointer, problem)
                                     : fmt::format("{}: {}", in_file, problem)),
      file(std::move(in_file)),
      line(at_line),
      pointer(std::move(at_pointer)) {}

std::string contract_text(const std::filesystem::path& file) {
  InputFile input = read_input(file);
  if (!input.found.empty()) {
    throw ContractError(file.string(), 0, "", "found " + input.found + ", expected a contract file (JSON)");
  }
  return std::move(input.text);
}

ContractSet load_contracts(const std::filesystem::path& file) {
  return parse_contracts(contract_text(file), file.string());
}

const ContractSet& builtin_contracts() {
  static const ContractSet contracts = [] {
    ContractSet all;
    for (const EmbeddedFile& file : embedded_contracts()) {
      merge_contracts(all, parse_contracts(file.text, "rules/contracts/" + std::string(file.name)));
    }
    return all;
  }();
  return contracts;
}

void merge_contracts(ContractSet& into, ContractSet more) {
  std::vector<Api>& merged = more.apis;
  const std::size_t added = merged.size();
  const auto replaced = [&](const Api& known) {
    return std::any_of(merged.begin(), merged.begin() + static_cast<std::ptrdiff_t>(added),
                       [&](const Api& each) { return each.name == known.name; });
  };
  for (Api& known : into.apis) {
    if (!replaced(known)) merged.push_back(std::move(known));
  }
  into.apis = std::move(merged);
  for (auto& [library, package] : more.packages) into.packages.insert_or_assign(library, std::move(package));
  for (auto& [name, dtype] : more.types) into.types.insert_or_assign(name, dtype);
  for (auto& [name, op] : more.helpers) into.helpers.insert_or_assign(name, std::move(op));
}

std::vector<std::string> operator_records(const Api& api) {
  constexpr std::string_view kPrefix = "torch.ops.";
  std::vector<std::string> names;
  for (const std::string& spelling : api.spellings) {
    if (!spelling.starts_with(kPrefix)) continue;
    std::string name = spelling.substr(kPrefix.size());
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || name.find('.', dot + 1) != std::string::npos) continue;
    names.push_back(name.replace(dot, 1, "::"));
  }
  return names;
}

}  // namespace dtype_guard
