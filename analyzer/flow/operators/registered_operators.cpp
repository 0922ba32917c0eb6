#include "analyzer/flow/operators/registered_operators.h"

#include <algorithm>
#include <cctype>

#include "analyzer/flow/ir/registered_names.h"

namespace dtype_guard::flow {

// Autocast comes before autograd, and that before the device's own kernel.
std::optional<std::uint32_t> registered_kernel(const FunctionIndex& index, std::string_view name,
                                               std::string device, const AutocastState& autocast) {
  std::transform(device.begin(), device.end(), device.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto registered = [&](std::string_view key) -> const std::vector<std::uint32_t>& {
    return index.find(std::string(name) + "@" + std::string(key));
  };
  const auto only = [](const std::vector<std::uint32_t>& found) {
    return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
  };
  if (!registered(kUnknownKey).empty()) return std::nullopt;
  if (const auto& own = registered(std::string(kAutocastKey) + device); !own.empty() && autocast.may_be_on) {
    return autocast.may_be_off ? std::nullopt : only(own);
  }
  for (const std::string& key : {std::string(kAutogradKey), std::string(kAutogradKey) + device}) {
    if (!registered(key).empty()) return std::nullopt;
  }
  for (const std::string_view key : {std::string_view(device), kForAnyBackend, kForAnyKey}) {
    if (const auto& own = registered(key); !own.empty()) return only(own);
  }
  return std::nullopt;
}

}  // namespace dtype_guard::flow
