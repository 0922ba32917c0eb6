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

struct Entry {
  AutocastPolicy policy;
  Version since;
};
using DeviceLists = std::map<std::string, std::unordered_map<std::string, Entry>, std::less<>>;

AutocastPolicy policy_word(const std::string& word) {
  if (word == "lower_precision") return AutocastPolicy::kLowerPrecision;
  if (word == "float32") return AutocastPolicy::kFloat32;
  if (word == "float32_set_dtype") return AutocastPolicy::kFloat32SetDtype;
  if (word == "promote") return AutocastPolicy::kPromote;
  throw std::logic_error("rules/operators/autocast.json: unknown policy " + word);
}

void add_list(DeviceLists& lists, const JsonNode& node) {
  Entry entry{policy_word(*node.member("policy")->string()), {0, 0}};
  if (const JsonNode* since = node.member("since")) entry.since = parse_torch_version(*since->string());
  for (const JsonNode& device : *node.member("devices")->items()) {
    auto& list = lists[*device.string()];
    for (const JsonNode& name : *node.member("operators")->items()) list.emplace(*name.string(), entry);
  }
}

const DeviceLists& device_lists() {
  static const DeviceLists lists = [] {
    DeviceLists made;
    for (const EmbeddedFile& file : embedded_operators()) {
      if (file.name != "autocast.json") continue;
      const JsonNode root = parse_located_json(file.text);
      for (const JsonNode& node : *root.member("lists")->items()) add_list(made, node);
    }
    return made;
  }();
  return lists;
}

}  // namespace

AutocastPolicy autocast_policy(std::string_view operator_name, std::string_view device,
                               std::string_view torch_version) {
  const auto list = device_lists().find(device);
  if (list == device_lists().end()) return AutocastPolicy::kNone;
  const auto entry = list->second.find(std::string(operator_name));
  if (entry == list->second.end()) return AutocastPolicy::kNone;
  return parse_torch_version(torch_version) < entry->second.since ? AutocastPolicy::kNone : entry->second.policy;
}

}  // namespace dtype_guard
