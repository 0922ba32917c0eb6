#include "rules/contracts/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dtype_guard {

namespace {

std::string_view word(ApiKind kind) {
  switch (kind) {
    case ApiKind::kAttention:
      return "attention";
    case ApiKind::kRotary:
      return "rotary";
    case ApiKind::kKvCache:
      return "kv_cache";
  }
  return "";
}

std::string taken(const Operand& operand) {
  if (operand.same_as.empty()) return operand.accepts.describe();
  const std::string own = operand.accepts.empty() ? "" : operand.accepts.describe() + ", or ";
  return fmt::format("{}as {}", own, operand.same_as);
}

// "torch 2.4 and newer"; empty: of all versions.
std::string versions(const Api& api) {
  if (api.since.empty() && api.until.empty()) return "";
  if (api.until.empty()) return fmt::format("{} {} and newer", api.library, api.since);
  if (api.since.empty()) return fmt::format("{} before {}", api.library, api.until);
  return fmt::format("{} {} to before {}", api.library, api.since, api.until);
}

// " (torch 2.4 and newer, on cuda)"; empty: everywhere.
std::string where_it_holds(const Api& api) {
  std::vector<std::string> parts;
  if (const std::string of = versions(api); !of.empty()) parts.push_back(of);
  if (!api.devices.empty()) parts.push_back(fmt::format("on {}", fmt::join(api.devices, " and ")));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

std::vector<Operand> all_of(const Api& api) {
  std::vector<Operand> out = api.operands;
  out.insert(out.end(), api.options.begin(), api.options.end());
  return out;
}

// Roles that take the same are named together.
std::string operands(const Api& api) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Operand& each : all_of(api)) {
    if (groups.empty() || groups.back().first != taken(each)) groups.push_back({taken(each), {}});
    groups.back().second.push_back(each.role);
  }
  std::vector<std::string> parts;
  for (const auto& [what, roles] : groups)
    parts.push_back(fmt::format("{} {}", fmt::join(roles, ", "), what));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string place(const Operand& operand) {
  if (operand.template_argument >= 0) return fmt::format("template argument {}", operand.template_argument);
  return operand.argument >= 0 ? fmt::format("argument {}", operand.argument) : "in the options";
}

std::string one(const Api& api) {
  std::string out =
      fmt::format("{}: {} of {}{}\n", api.name, word(api.kind), api.library, where_it_holds(api));
  out += fmt::format("called as: {}\n", fmt::join(api.spellings, ", "));
  const std::vector<Operand> all = all_of(api);
  std::size_t roles = 0;
  std::size_t places = 0;
  for (const Operand& each : all) {
    roles = std::max(roles, each.role.size());
    places = std::max(places, place(each).size());
  }
  for (const Operand& each : all) {
    out += fmt::format("  {:<{}}  {:<{}}  {}{}\n", each.role, roles, place(each), places, taken(each),
                       each.optional ? " (optional)" : "");
    if (!each.error.empty())
      out += fmt::format("  {:<{}}  else it stops with \"{}\"\n", "", roles, each.error);
  }
  for (const auto& [device, behaviour] : api.autocast) {
    if (behaviour != AutocastBehaviour::kRecasts) continue;
    const auto since = api.autocast_since.find(device);
    out += fmt::format(
        "autocast on {} casts the operands before{}\n", device,
        since == api.autocast_since.end() ? "" : fmt::format(", from torch {} on", since->second));
  }
  for (const auto& [device, dtypes] : api.fast)
    out += fmt::format("fast on {}: {}\n", device, dtypes.describe());
  if (!api.source.empty()) out += fmt::format("written in: {}\n", api.source);
  return out;
}

}  // namespace

std::string list_contracts(const ContractSet& contracts) {
  std::size_t names = 0;
  std::size_t libraries = 0;
  for (const Api& each : contracts.apis) {
    names = std::max(names, each.name.size());
    libraries = std::max(libraries, each.library.size());
  }
  std::vector<const Api*> sorted;
  for (const Api& each : contracts.apis) sorted.push_back(&each);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Api* a, const Api* b) { return a->library < b->library; });
  std::string out;
  for (const Api* each : sorted) {
    out += fmt::format("{:<{}}  {:<{}}  {}: {}{}\n", each->name, names, each->library, libraries,
                       word(each->kind), operands(*each), where_it_holds(*each));
  }
  return out;
}

std::string explain_contract(const ContractSet& contracts, const std::string& name) {
  const auto ends_so = [&](const std::string& spelling) {
    return spelling.ends_with("." + name) || spelling.ends_with("::" + name);
  };
  std::string exact, by_last_words;
  for (const Api& each : contracts.apis) {
    const bool is_it = each.is_spelt(name);
    if (!is_it && std::none_of(each.spellings.begin(), each.spellings.end(), ends_so)) continue;
    std::string& out = is_it ? exact : by_last_words;
    out += (out.empty() ? "" : "\n") + one(each);
  }
  return exact.empty() ? by_last_words : exact;
}

}  // namespace dtype_guard
