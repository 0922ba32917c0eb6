// Which policy autocast applies to an operator, by device and PyTorch version (autocast.json).
#include <map>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "rules/data/embedded.h"
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

const DeviceLists& device_lists() {
  static const DeviceLists* const lists = [] {
    auto* made = new DeviceLists;
    for (const EmbeddedFile& file : embedded_operators()) {
      if (file.name != "autocast.json") continue;
      const JsonNode root = parse_located_json(file.text);
      for (const JsonNode& node : *root.member("lists")->items())
        add_list(*made, *root.member("devices"), node);
    }
    return made;
  }();
  return *lists;
}

const Entries* entries_of(std::string_view operator_name, std::string_view device) {
  const auto list = device_lists().find(device);
  if (list == device_lists().end()) return nullptr;
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
