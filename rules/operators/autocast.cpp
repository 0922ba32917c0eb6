// Which policy autocast applies to an operator, by device and PyTorch version, and which devices have a
// kernel for the whole of it (autocast.json).
#include <map>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "rules/data/embedded.h"
#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"
#include "rules/operators/operators.h"
#include "rules/operators/version.h"

namespace dtype_guard {
namespace {

using Version = TorchVersion;
constexpr Version kAlways{0, 0};
constexpr Version kNever{1 << 20, 0};

struct Entry {
  AutocastPolicy policy;
  Version since;
  Version until;  // the first release without it
  std::string since_text;
};
using Entries = std::vector<Entry>;  // of one operator on one device
using DeviceLists = std::map<std::string, std::unordered_map<std::string, Entries>, std::less<>>;

AutocastPolicy policy_word(const std::string& word) {
  if (word == "lower_precision") return AutocastPolicy::kLowerPrecision;
  if (word == "float32") return AutocastPolicy::kFloat32;
  if (word == "float32_set_dtype") return AutocastPolicy::kFloat32SetDtype;
  if (word == "promote") return AutocastPolicy::kPromote;
  if (word == "banned") return AutocastPolicy::kBanned;
  throw std::logic_error("rules/operators/autocast.json: unknown policy " + word);
}

std::string text_or(const JsonNode& node, std::string_view key, std::string_view otherwise) {
  const JsonNode* member = node.member(key);
  return member != nullptr && member->string() != nullptr ? *member->string() : std::string(otherwise);
}

// A device's lists begin with the release that brought autocast to it.
void add_list(DeviceLists& lists, const JsonNode& devices, const JsonNode& node) {
  for (const JsonNode& device : *node.member("devices")->items()) {
    const JsonNode& first = *devices.member(*device.string());
    Entry entry{policy_word(*node.member("policy")->string()), kAlways, kNever, {}};
    entry.since_text = text_or(node, "since", text_or(first, "since", ""));
    entry.since = parse_torch_version(entry.since_text);
    if (node.member("until") != nullptr) entry.until = parse_torch_version(text_or(node, "until", ""));
    auto& list = lists[*device.string()];
    for (const JsonNode& name : *node.member("operators")->items()) list[*name.string()].push_back(entry);
  }
}

struct Kernel {
  Version since;
  DtypeSet certain;
};
using DeviceKernels = std::map<std::pair<std::string, std::string>, Kernel>;  // by device and operator

void add_kernels(DeviceKernels& kernels, const JsonNode& node) {
  Kernel kernel{parse_torch_version(text_or(node, "since", "")), {}};
  for (const JsonNode& dtype : *node.member("in")->items())
    kernel.certain.insert(parse_dtype(*dtype.string()).value());
  for (const JsonNode& device : *node.member("devices")->items()) {
    for (const JsonNode& name : *node.member("operators")->items())
      kernels[{*device.string(), *name.string()}] = kernel;
  }
}

struct Tables {
  DeviceLists lists;
  DeviceKernels kernels;
};

const Tables& tables() {
  static const Tables* const tables = [] {
    auto* made = new Tables;
    for (const EmbeddedFile& file : embedded_operators()) {
      if (file.name != "autocast.json") continue;
      const JsonNode root = parse_located_json(file.text);
      for (const JsonNode& node : *root.member("lists")->items())
        add_list(made->lists, *root.member("devices"), node);
      for (const JsonNode& node : *root.member("kernels")->items()) add_kernels(made->kernels, node);
    }
    return made;
  }();
  return *tables;
}

const Entries* entries_of(std::string_view operator_name, std::string_view device) {
  const auto list = tables().lists.find(device);
  if (list == tables().lists.end()) return nullptr;
  const auto found = list->second.find(std::string(operator_name));
  return found == list->second.end() ? nullptr : &found->second;
}

AutocastPolicy policy_at(const Entries& entries, Version version) {
  for (const Entry& entry : entries) {
    if (version >= entry.since && version < entry.until) return entry.policy;
  }
  return AutocastPolicy::kNone;
}

}  // namespace

AutocastPolicy autocast_policy(std::string_view operator_name, std::string_view device,
                               std::string_view torch_version) {
  const Entries* entries = entries_of(operator_name, device);
  return entries == nullptr ? AutocastPolicy::kNone : policy_at(*entries, parse_torch_version(torch_version));
}

const DtypeSet* autocast_kernel(std::string_view operator_name, std::string_view device,
                                std::string_view torch_version) {
  const auto found = tables().kernels.find({std::string(device), std::string(operator_name)});
  const bool there =
      found != tables().kernels.end() && parse_torch_version(torch_version) >= found->second.since;
  return there ? &found->second.certain : nullptr;
}

std::vector<AutocastChange> autocast_changes(std::string_view operator_name, std::string_view device,
                                             std::string_view from_version, std::string_view to_version) {
  const Entries* entries = entries_of(operator_name, device);
  if (entries == nullptr) return {};
  std::map<Version, std::string> turns;  // releases where an entry begins or ends
  for (const Entry& entry : *entries) {
    turns.emplace(entry.since, entry.since_text);
    if (entry.until == kNever) continue;
    turns.emplace(entry.until, std::to_string(entry.until.first) + "." + std::to_string(entry.until.second));
  }
  const Version last = parse_torch_version(to_version);
  AutocastPolicy policy = policy_at(*entries, parse_torch_version(from_version));
  std::vector<AutocastChange> changes;
  for (const auto& [release, text] : turns) {
    if (release <= parse_torch_version(from_version) || release > last) continue;
    const AutocastPolicy next = policy_at(*entries, release);
    if (next != policy) changes.push_back({policy, next, text});
    policy = next;
  }
  return changes;
}

}  // namespace dtype_guard
