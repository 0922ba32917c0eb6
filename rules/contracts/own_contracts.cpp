#include "rules/contracts/own_contracts.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/contracts/contract_file.h"
#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"

namespace dtype_guard {
namespace {

// One more file, held against what is known before it.
class Newcomer {
 public:
  Newcomer(const JsonNode& root, const ContractSet& more, const ContractSet& known, const std::string& file)
      : root_(root), more_(more), known_(known), file_(file) {}

  void check() const {
    if (const JsonNode* types = root_.member("types")) check_types(*types);
    if (const JsonNode* helpers = root_.member("helpers")) check_helpers(*helpers);
    if (const JsonNode* apis = root_.member("apis")) {
      for (std::size_t i = 0; i < more_.apis.size(); ++i) check_api((*apis->items())[i], more_.apis[i]);
    }
  }

 private:
  [[noreturn]] void wrong(const JsonNode& node, const std::string& found, const std::string& taken) const {
    throw ContractError(file_, node.line, node.pointer(),
                        fmt::format("found \"{}\", expected a name that {}", found, taken));
  }

  void check_types(const JsonNode& types) const {
    for (const auto& [name, node] : *types.members()) {
      if (const Api* api = api_of(name)) wrong(node, name, spelling_of(*api));
      if (known_.helpers.contains(name)) wrong(node, name, "\"helpers\" of an earlier file does not have");
      const auto before = known_.types.find(name);
      if (before == known_.types.end() || before->second == more_.types.at(name)) continue;
      const auto shipped = builtin_contracts().types.find(name);
      const bool replaced = shipped != builtin_contracts().types.end() && shipped->second == before->second;
      if (!replaced)
        wrong(node, name,
              fmt::format("\"types\" of an earlier file does not have, where it is {}",
                          dtype_guard::name(before->second)));
    }
  }

  void check_helpers(const JsonNode& helpers) const {
    for (const auto& [name, node] : *helpers.members()) {
      if (const Api* api = api_of(name)) wrong(node, name, spelling_of(*api));
      if (known_.types.contains(name) || builtin_contracts().types.contains(name))
        wrong(node, name, "\"types\" of an earlier or shipped file does not have");
      const auto before = known_.helpers.find(name);
      if (before != known_.helpers.end() && before->second != more_.helpers.at(name))
        wrong(
            node, name,
            fmt::format("\"helpers\" of an earlier file does not have, where it is \"{}\"", before->second));
    }
  }

  void check_api(const JsonNode& node, const Api& api) const {
    check_spelling(*node.member("name"), api);
    for (const JsonNode& spelling : *node.member("spellings")->items()) check_spelling(spelling, api);
  }

  void check_spelling(const JsonNode& node, const Api& api) const {
    const std::string& name = *node.string();
    if (known_.helpers.contains(name)) wrong(node, name, "\"helpers\" of an earlier file does not have");
    if (known_.types.contains(name) || builtin_contracts().types.contains(name))
      wrong(node, name, "\"types\" of an earlier or shipped file does not have");
    for (const Api& other : known_.apis) {
      const bool own = other.is_spelt(name) && !is_replaced(other) && !is_shipped(other);
      if (own && hold_together(other, api)) wrong(node, name, spelling_of(other));
    }
  }

  static std::string spelling_of(const Api& api) {
    return fmt::format("the API \"{}\" of \"{}\" does not have as a spelling", api.name, api.library);
  }

  // An API of this file takes the place of the one of its name.
  bool is_replaced(const Api& api) const { return has(more_, api.name); }

  static bool has(const ContractSet& set, const std::string& name) {
    return std::any_of(set.apis.begin(), set.apis.end(), [&](const Api& each) { return each.name == name; });
  }

  const Api* api_of(const std::string& name) const {
    for (const Api& api : known_.apis) {
      if (api.is_spelt(name) && !is_replaced(api)) return &api;
    }
    for (const Api& api : builtin_contracts().apis) {
      if (api.is_spelt(name) && !is_replaced(api) && !has(known_, api.name)) return &api;
    }
    return nullptr;
  }

  const JsonNode& root_;
  const ContractSet& more_;
  const ContractSet& known_;
  const std::string& file_;
};

}  // namespace

bool is_shipped(const Api& api) {
  const auto& shipped = builtin_contracts().apis;
  return std::any_of(shipped.begin(), shipped.end(), [&](const Api& each) {
    return each.name == api.name && each.library == api.library && each.source == api.source;
  });
}

std::string add_contracts(ContractSet& into, const std::filesystem::path& file) {
  const std::string name = file.string();
  std::string text = contract_text(file);
  ContractSet more = parse_contracts(text, name);
  Newcomer(parse_located_json(text), more, into, name).check();
  merge_contracts(into, std::move(more));
  return text;
}

}  // namespace dtype_guard
