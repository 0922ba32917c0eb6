// Reads contract files. Each error names the place, what was found and what was expected, because contract
// files are written by hand and a contract that is quietly ignored would mean missed bugs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rules/contracts/contract.h"
#include "rules/contracts/contract_values.h"
#include "rules/contracts/roles.h"
#include "rules/contracts/spelling.h"
#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"
#include "rules/operators/operators.h"
#include "rules/operators/version.h"
#include "rules/text/lists.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kSchema = "dtype-guard/contracts/1";

class ContractReader : private ContractValues {
 public:
  using ContractValues::ContractValues;

  ContractSet read(const JsonNode& root) {
    // First of all: a report or a baseline given by mistake is not taken for a contract file with errors.
    const JsonNode* schema = root.member("schema");
    if (schema != nullptr && text(*schema) != kSchema) wrong(*schema, fmt::format("\"{}\"", kSchema));
    check_members(root, {"$schema", "schema", "library", "package", "apis", "types", "helpers"},
                  {"schema", "library"});
    const std::string library = name(*root.member("library"));
    ContractSet set;
    if (const JsonNode* package = root.member("package")) set.packages[library] = name(*package);
    if (const JsonNode* types = root.member("types")) set.types = own_types(*types);
    if (const JsonNode* helpers = root.member("helpers")) set.helpers = own_helpers(*helpers, set);
    const JsonNode* apis = root.member("apis");
    if (apis == nullptr && set.types.empty() && set.helpers.empty()) {
      wrong(root, "one of \"apis\", \"types\" and \"helpers\"");
    }
    if (apis == nullptr) return set;
    for (const JsonNode& node : list(*apis, "at least one API")) {
      set.apis.push_back(api(node, library));
      refuse_repeated_api(set, node);
      refuse_other_meanings(set, *node.member("name"));
      for (const JsonNode& spelling : *node.member("spellings")->items())
        refuse_other_meanings(set, spelling);
    }
    return set;
  }

 private:
  std::map<std::string, Dtype, std::less<>> own_types(const JsonNode& node) const {
    std::map<std::string, Dtype, std::less<>> types;
    for (const JsonMember& member : named_values(node, "qualified type names and their dtypes")) {
      if (is_builtin_type(member.key))
        wrong_key(member, "a class or an alias of the project's own, not a builtin type");
      types[member.key] = one_dtype(member.node);
    }
    return types;
  }

  std::map<std::string, std::string, std::less<>> own_helpers(const JsonNode& node,
                                                              const ContractSet& set) const {
    std::map<std::string, std::string, std::less<>> helpers;
    for (const JsonMember& member : named_values(node, "qualified function names and operators")) {
      const auto& [key, value] = member;
      if (set.types.contains(key)) wrong_key(member, "a function, which \"types\" does not have");
      const std::string& op = text(value);
      if (find_operator(op) == nullptr) {
        Names known;
        for (const Operator& each : all_operators()) known.push_back(each.name);
        wrong(value, "an operator by PyTorch's name, such as \"mul\"" + did_you_mean(op, known));
      }
      helpers[key] = op;
    }
    return helpers;
  }

  Api api(const JsonNode& node, const std::string& library) const {
    check_members(node,
                  {"name", "kind", "spellings", "operands", "options", "autograd_function", "autocast",
                   "autocast_since", "recast", "fast", "result_argument", "result_dtype", "result_like",
                   "results", "result_for", "versions", "devices", "source"},
                  {"name", "kind", "spellings", "operands"});
    Api api;
    api.library = library;
    api.name = name(*node.member("name"));
    api.kind = choice<ApiKind>(
        *node.member("kind"),
        {{"attention", ApiKind::kAttention}, {"rotary", ApiKind::kRotary}, {"kv_cache", ApiKind::kKvCache}},
        "a kind");
    for (const JsonNode& spelling : list(*node.member("spellings"), "at least one qualified name")) {
      const std::string& called = called_name(spelling);
      const auto& before = api.spellings;
      if (std::find(before.begin(), before.end(), called) != before.end())
        wrong(spelling, "each spelling once");
      api.spellings.push_back(called);
    }
    const JsonNode& operands = *node.member("operands");
    for (const JsonNode& item : list(operands, "at least one operand")) add_operand(api, item);
    check_references(api, operands);
    if (const JsonNode* options = node.member("options")) {
      for (const JsonNode& item : list(*options, "at least one option"))
        api.options.push_back(option(api, item));
    }
    if (const JsonNode* autocast = node.member("autocast")) api.autocast = devices(*autocast);
    if (const JsonNode* source = node.member("source")) api.source = name(*source);
    add_further_facts(api, node);
    return api;
  }

  void add_further_facts(Api& api, const JsonNode& node) const {
    add_result(api, node);
    if (const JsonNode* function = node.member("autograd_function")) add_function(api, *function);
    if (const JsonNode* fast = node.member("fast")) {
      check_members(*fast, kDevices, {});
      for (const auto& [device, value] : *fast->members()) api.fast[device] = fast_dtypes(api, value);
    }
    if (const JsonNode* since = node.member("autocast_since")) {
      check_members(*since, kDevices, {});
      for (const auto& [device, value] : *since->members()) {
        if (api.autocast[device] != AutocastBehaviour::kRecasts)
          wrong(value, fmt::format("\"autocast\" to say that the call is recast on {}", device));
        api.autocast_since[device] = version(value);
      }
    }
    if (const JsonNode* devices = node.member("devices")) {
      for (const JsonNode& each : list(*devices, "at least one device")) api.devices.insert(device(each));
    }
    if (const JsonNode* casts = node.member("recast")) api.recast = recast(*casts);
    if (const JsonNode* versions = node.member("versions")) {
      check_members(*versions, {"since", "until"}, {});
      if (const JsonNode* since = versions->member("since")) api.since = version(*since);
      if (const JsonNode* until = versions->member("until")) api.until = version(*until);
      const bool empty = !api.since.empty() && !api.until.empty() &&
                         parse_torch_version(api.since) >= parse_torch_version(api.until);
      if (empty) {
        wrong(*versions->member("until"),
              fmt::format("a version after {}, which \"since\" names", api.since));
      }
    }
  }

  void add_function(Api& api, const JsonNode& node) const {
    check_members(node, {"name", "tensors"}, {"name", "tensors"});
    api.autograd_function = name(*node.member("name"));
    for (const JsonNode& role : list(*node.member("tensors"), "the roles of the tensors, in order"))
      api.autograd_tensors.push_back(known_role(api, role));
  }

  void add_result(Api& api, const JsonNode& node) const {
    if (const JsonNode* option = node.member("result_argument")) {
      api.result_argument = argument(*option);
      refuse_taken_position(api, *option, api.result_argument);
    }
    const JsonNode* like = node.member("result_like");
    if (const JsonNode* fixed = node.member("result_dtype")) {
      api.result_dtype = one_dtype(*fixed);
      if (like != nullptr)
        wrong(*fixed, "no \"result_like\" beside it: a result is fixed or like an operand");
    }
    if (like != nullptr) api.result_like = known_role(api, *like);
    if (const JsonNode* several = node.member("results")) add_results(api, node, *several);
    if (const JsonNode* exceptions = node.member("result_for")) add_exceptions(api, *exceptions);
  }

  // A role or a dtype each; no dtype is called like a role.
  void add_results(Api& api, const JsonNode& node, const JsonNode& several) const {
    for (const char* single : {"result_argument", "result_dtype", "result_like"}) {
      if (node.member(single) != nullptr)
        wrong(several, fmt::format("no \"{}\" beside it: one result is returned or several", single));
    }
    for (const JsonNode& item : list(several, "roles and dtypes, one for each result")) {
      if (api.find(text(item)) != nullptr) {
        api.results.push_back({text(item), Dtype::kUndefined});
      } else if (role_kind(text(item))) {
        known_role(api, item);
      } else {
        api.results.push_back({"", one_dtype(item)});
      }
    }
  }

  void add_exceptions(Api& api, const JsonNode& exceptions) const {
    std::string role = api.result_like;
    for (const ApiResult& each : api.results) {
      if (role.empty()) role = each.like;
    }
    if (role.empty()) wrong(exceptions, "\"result_like\" beside it, to which it lists exceptions");
    const DtypeSet accepted = api.accepted(role);
    for (const auto& [key, value] : named_values(exceptions, "dtypes and the result's dtype for them")) {
      JsonNode given = value;
      given.value = key;
      const Dtype exception = one_dtype(given);
      if (!accepted.contains(exception)) unknown(given, taken_by(role), names_of(accepted));
      api.result_for[exception] = one_dtype(value);
    }
  }

  void add_operand(Api& api, const JsonNode& node) const {
    check_members(node,
                  {"role", "keyword", "argument", "template_argument", "dtype_argument", "accepts", "same_as",
                   "optional", "direction", "error"},
                  {"role"});
    Operand operand;
    const JsonNode& role = *node.member("role");
    operand.role = text(role);
    check_role(role);
    add_position(operand, node);
    if (const JsonNode* keyword = node.member("keyword")) operand.keyword = this->keyword(api, *keyword);
    if (const JsonNode* error = node.member("error")) operand.error = name(*error);
    if (const JsonNode* accepts = node.member("accepts")) operand.accepts = dtypes(*accepts);
    if (const JsonNode* same_as = node.member("same_as")) operand.same_as = text(*same_as);
    if (const JsonNode* optional = node.member("optional")) operand.optional = flag(*optional);
    if (const JsonNode* direction = node.member("direction")) {
      operand.direction = choice<Direction>(
          *direction, {{"in", Direction::kIn}, {"out", Direction::kOut}, {"inout", Direction::kInOut}},
          "a direction");
    }
    if (operand.accepts.empty() && operand.same_as.empty()) {
      wrong(node, "\"accepts\" (a list of dtypes) or \"same_as\" (a role) to say which dtypes it takes");
    }
    refuse_taken_role(api, role);
    if (operand.argument >= 0) refuse_taken_position(api, *node.member("argument"), operand.argument);
    if (operand.dtype_argument >= 0)
      refuse_taken_position(api, *node.member("dtype_argument"), operand.dtype_argument);
    for (const Operand& other : api.operands) {  // several may have their dtype from one argument
      if (operand.argument >= 0 && other.dtype_argument == operand.argument)
        wrong(*node.member("argument"),
              fmt::format("a position other than that of the dtype of \"{}\"", other.role));
    }
    api.operands.push_back(std::move(operand));
  }

  const std::string& keyword(const Api& api, const JsonNode& node) const {
    const std::string& word = name(node);
    const bool starts = word.find_first_of("0123456789") != 0;
    const auto is_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (!starts || !std::all_of(word.begin(), word.end(), is_word))
      wrong(node, "the name of a parameter, such as \"query\"");
    for (const Operand& other : api.operands) {
      if (other.called() == word) wrong(node, fmt::format("a name that \"{}\" does not have", other.role));
    }
    return word;
  }

  void check_role(const JsonNode& role) const {
    if (role_kind(text(role))) return;
    unknown(role, "a role", all_roles(), role_meant_by(text(role)));
  }

  // Several roles may take their dtype from one template argument.
  void add_position(Operand& operand, const JsonNode& node) const {
    const JsonNode* passed = node.member("argument");
    const JsonNode* type = node.member("template_argument");
    if ((passed == nullptr) == (type == nullptr)) {
      wrong(node, "either \"argument\" or \"template_argument\" to say where its dtype comes from");
    }
    if (passed != nullptr) operand.argument = argument(*passed);
    if (type != nullptr) operand.template_argument = argument(*type);
    const JsonNode* said = node.member("dtype_argument");
    if (said == nullptr) return;
    operand.dtype_argument = argument(*said);
    if (passed == nullptr) wrong(*said, "\"argument\" beside it: the pointer whose dtype it says");
    if (operand.argument == operand.dtype_argument) wrong(*said, "another position than \"argument\" has");
  }

  void refuse_taken_role(const Api& api, const JsonNode& role) const {
    const auto is_taken = [&](const Operand& other) { return other.role == text(role); };
    if (std::any_of(api.operands.begin(), api.operands.end(), is_taken))
      wrong(role, "a role that no other operand of this API has");
    if (std::any_of(api.options.begin(), api.options.end(), is_taken))
      wrong(role, "a role that no other option of this API has");
  }

  void refuse_taken_position(const Api& api, const JsonNode& node, int position) const {
    for (const Operand& other : api.operands) {
      if (other.argument == position)
        wrong(node, fmt::format("a position other than that of operand \"{}\"", other.role));
    }
  }

  static std::string taken_by(const std::string& role) {
    return fmt::format("a dtype that \"{}\" takes", role);
  }

  // The dtypes of the fast kernels are among those that the inputs take.
  DtypeSet fast_dtypes(const Api& api, const JsonNode& node) const {
    DtypeSet accepted;
    std::vector<std::string> inputs;
    for (const Operand& operand : api.operands) {
      if (role_kind(operand.role) != RoleKind::kInput) continue;
      accepted = DtypeSet::from_bits(accepted.bits() | api.accepted(operand.role).bits());
      inputs.push_back(fmt::format("\"{}\"", operand.role));
    }
    if (inputs.empty())
      wrong(node, "an input among the operands, such as \"q\" or \"x\", whose dtypes these are");
    for (const JsonNode& item : list(node, "at least one dtype")) {
      if ((dtype_or_group(item).bits() & ~accepted.bits()) != 0)
        unknown(item, fmt::format("a dtype that {} takes", listed(inputs, "or")), names_of(accepted));
    }
    return dtypes(node);
  }

  // A tensor among the members of an options argument: it has no position of its own.
  Operand option(const Api& api, const JsonNode& node) const {
    check_members(node, {"role", "accepts", "same_as", "optional"}, {"role", "accepts"});
    Operand operand;
    const JsonNode& role = *node.member("role");
    operand.role = text(role);
    check_role(role);
    refuse_taken_role(api, role);
    operand.accepts = dtypes(*node.member("accepts"));
    if (const JsonNode* same_as = node.member("same_as")) operand.same_as = known_role(api, *same_as);
    if (const JsonNode* optional = node.member("optional")) operand.optional = flag(*optional);
    return operand;
  }

  std::map<std::string, AutocastBehaviour> devices(const JsonNode& node) const {
    check_members(node, kDevices, {});
    std::map<std::string, AutocastBehaviour> behaviours;
    for (const auto& [device, value] : *node.members()) {
      behaviours[device] = choice<AutocastBehaviour>(
          value, {{"as_is", AutocastBehaviour::kAsIs}, {"recasts", AutocastBehaviour::kRecasts}},
          "what autocast does");
    }
    return behaviours;
  }

  const std::string& known_role(const Api& api, const JsonNode& node) const {
    if (api.find(text(node)) != nullptr) return text(node);
    Names roles;
    for (const Operand& operand : api.operands) roles.push_back(operand.role);
    unknown(node, "a role of this API", roles);
  }

  void check_references(const Api& api, const JsonNode& operands) const {
    for (std::size_t i = 0; i < api.operands.size(); ++i) {
      const Operand& operand = api.operands[i];
      if (operand.same_as.empty()) continue;
      const JsonNode& node = *(*operands.items())[i].member("same_as");
      known_role(api, node);
      if (leads_to_itself(api, operand)) {
        wrong(node, "a role that leads to an operand with \"accepts\", not in a circle");
      }
    }
  }

  // A chain of same_as ends at an operand without one.
  static bool leads_to_itself(const Api& api, const Operand& operand) {
    const Operand* next = api.find(operand.same_as);
    for (std::size_t step = 0; next != nullptr && step < api.operands.size(); ++step) {
      if (next == &operand) return true;
      next = next->same_as.empty() ? nullptr : api.find(next->same_as);
    }
    return false;
  }

  // A function is an operator or has a contract, not both, and is no type.
  void refuse_other_meanings(const ContractSet& set, const JsonNode& spelling) const {
    if (set.helpers.contains(text(spelling)))
      wrong(spelling, "a function that \"helpers\" does not have, or no such helper");
    if (set.types.contains(text(spelling)))
      wrong(spelling, "a function that \"types\" does not have, or no such type");
  }

  void refuse_repeated_api(const ContractSet& set, const JsonNode& node) const {
    const Api& added = set.apis.back();
    for (const Api& known : set.apis) {
      if (&known == &added || !hold_together(known, added)) continue;
      if (known.name == added.name)
        wrong(*node.member("name"),
              "each API name once per file, or with \"versions\" or \"devices\" that do not overlap");
      for (std::size_t at = 0; at < added.spellings.size(); ++at) {
        if (known.is_spelt(added.spellings[at]))
          wrong((*node.member("spellings")->items())[at],
                fmt::format("a spelling that \"{}\" does not have", known.name));
      }
    }
  }
};

}  // namespace

ContractSet parse_contracts(std::string_view json_text, const std::string& file) {
  try {
    return ContractReader(file).read(parse_located_json(json_text));
  } catch (const JsonError& error) {
    throw ContractError(file, error.line, error.pointer, error.problem);
  }
}

}  // namespace dtype_guard
