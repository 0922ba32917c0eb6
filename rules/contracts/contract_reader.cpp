// Reads contract files. Each error names the place, what was found and what was expected, because contract
// files are written by hand and a contract that is quietly ignored would mean missed bugs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "rules/contracts/contract.h"
#include "rules/contracts/roles.h"
#include "rules/contracts/spelling.h"
#include "rules/data/located_json.h"
#include "rules/operators/operators.h"
#include "rules/operators/version.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kSchema = "dtype-guard/contracts/1";
constexpr int kLargestArgument = 255;

using Names = std::vector<std::string>;
using Words = std::initializer_list<std::string_view>;  // names that are known here, of which no copy is made

struct DtypeGroup {
  const char* name;
  DtypeSet dtypes;
};
const DtypeGroup kDtypeGroups[] = {
    {"half", {Dtype::kFloat16, Dtype::kBFloat16}},
    {"floating", {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32, Dtype::kFloat64}},
};

template <typename Range>
std::string quoted(const Range& names) {
  Names quoted_names;
  for (const std::string_view name : names) quoted_names.push_back(fmt::format("\"{}\"", name));
  return fmt::format("{}", fmt::join(quoted_names, ", "));
}

class ContractReader {
 public:
  explicit ContractReader(const std::string& file) : file_(file) {}

  ContractSet read(const JsonNode& root) {
    // First of all: a report or a baseline given by mistake is not taken for a contract file with errors.
    const JsonNode* schema = root.member("schema");
    if (schema != nullptr && text(*schema) != kSchema) wrong(*schema, fmt::format("\"{}\"", kSchema));
    check_members(root, {"$schema", "schema", "library", "apis", "types", "helpers"}, {"schema", "library"});
    const std::string library = name(*root.member("library"));
    ContractSet set;
    if (const JsonNode* types = root.member("types")) set.types = own_types(*types);
    if (const JsonNode* helpers = root.member("helpers")) set.helpers = own_helpers(*helpers);
    const JsonNode* apis = root.member("apis");
    if (apis == nullptr && set.types.empty() && set.helpers.empty()) {
      wrong(root, "one of \"apis\", \"types\" and \"helpers\"");
    }
    if (apis == nullptr) return set;
    for (const JsonNode& node : list(*apis, "at least one API")) {
      set.apis.push_back(api(node, library));
      refuse_repeated_api(set, node);
    }
    return set;
  }

 private:
  [[noreturn]] void wrong(const JsonNode& node, const std::string& expected) const {
    throw ContractError(file_, node.line, node.pointer(),
                        fmt::format("found {}, expected {}", node.describe(), expected));
  }

  // "a" is not one of the names; says which is nearest.
  [[noreturn]] void unknown(const JsonNode& node, const std::string& what, const Names& known) const {
    wrong(node, fmt::format("{} ({}){}", what, quoted(known), did_you_mean(text(node), known)));
  }

  void check_members(const JsonNode& node, Words known, Words required) const {
    if (node.members() == nullptr) wrong(node, fmt::format("an object with {}", quoted(required)));
    for (const auto& [key, value] : *node.members()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      throw ContractError(file_, value.line, value.pointer(),
                          fmt::format("found the unknown member \"{}\", expected one of {}{}", key,
                                      quoted(known), did_you_mean(key, Names(known.begin(), known.end()))));
    }
    for (const std::string_view key : required) {
      if (node.member(key) != nullptr) continue;
      throw ContractError(file_, node.line, node.pointer(),
                          fmt::format("found {} without \"{}\", expected that member", node.describe(), key));
    }
  }

  const std::string& text(const JsonNode& node) const {
    if (node.string() == nullptr) wrong(node, "a string");
    return *node.string();
  }

  const std::string& name(const JsonNode& node) const {
    const std::string& value = text(node);
    const bool printable = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= ' '; });
    if (value.empty() || !printable) wrong(node, "a name of at least one printable character");
    return value;
  }

  const JsonNode::Items& list(const JsonNode& node, const std::string& content) const {
    if (node.items() == nullptr || node.items()->empty()) wrong(node, "an array of " + content);
    return *node.items();
  }

  template <typename Value>
  Value choice(const JsonNode& node, std::initializer_list<std::pair<std::string_view, Value>> values,
               const std::string& what) const {
    Names known;
    for (const auto& [key, value] : values) {
      if (text(node) == key) return value;
    }
    for (const auto& [key, value] : values) known.emplace_back(key);
    unknown(node, what, known);
  }

  const JsonNode::Members& named_values(const JsonNode& node, const std::string& content) const {
    if (node.members() == nullptr || node.members()->empty()) wrong(node, "an object of " + content);
    for (const auto& [key, value] : *node.members()) {
      if (key.empty() || key.find(' ') != std::string::npos) {
        throw ContractError(file_, value.line, value.pointer(),
                            fmt::format("found the key \"{}\", expected a qualified name", key));
      }
    }
    return *node.members();
  }

  std::map<std::string, Dtype, std::less<>> own_types(const JsonNode& node) const {
    std::map<std::string, Dtype, std::less<>> types;
    for (const auto& [key, value] : named_values(node, "qualified type names and their dtypes")) {
      types[key] = one_dtype(value);
    }
    return types;
  }

  std::map<std::string, std::string, std::less<>> own_helpers(const JsonNode& node) const {
    std::map<std::string, std::string, std::less<>> helpers;
    for (const auto& [key, value] : named_values(node, "qualified function names and operators")) {
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
                  {"name", "kind", "spellings", "operands", "options", "autocast", "autocast_since", "fast",
                   "result_argument", "result_dtype", "result_like", "result_for", "versions", "source"},
                  {"name", "kind", "spellings", "operands"});
    Api api;
    api.library = library;
    api.name = name(*node.member("name"));
    api.kind = choice<ApiKind>(
        *node.member("kind"),
        {{"attention", ApiKind::kAttention}, {"rotary", ApiKind::kRotary}, {"kv_cache", ApiKind::kKvCache}},
        "a kind");
    for (const JsonNode& spelling : list(*node.member("spellings"), "at least one qualified name")) {
      const std::string_view never = why_never_called(name(spelling));
      if (!never.empty()) wrong(spelling, fmt::format("a qualified name {}", never));
      api.spellings.push_back(name(spelling));
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
    if (const JsonNode* fast = node.member("fast")) {
      check_members(*fast, {"cuda", "cpu", "mps", "xpu"}, {});
      for (const auto& [device, value] : *fast->members()) api.fast[device] = dtypes(value);
    }
    if (const JsonNode* since = node.member("autocast_since")) {
      check_members(*since, {"cuda", "cpu", "mps", "xpu"}, {});
      for (const auto& [device, value] : *since->members()) {
        if (api.autocast[device] != AutocastBehaviour::kRecasts)
          wrong(value, fmt::format("\"autocast\" to say that the call is recast on {}", device));
        api.autocast_since[device] = version(value);
      }
    }
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

  void add_result(Api& api, const JsonNode& node) const {
    if (const JsonNode* option = node.member("result_argument")) api.result_argument = argument(*option);
    if (const JsonNode* fixed = node.member("result_dtype")) api.result_dtype = one_dtype(*fixed);
    if (const JsonNode* like = node.member("result_like")) api.result_like = known_role(api, *like);
    if (const JsonNode* exceptions = node.member("result_for")) {
      if (api.result_like.empty())
        wrong(*exceptions, "\"result_like\" beside it, to which it lists exceptions");
      for (const auto& [key, value] : named_values(*exceptions, "dtypes and the result's dtype for them")) {
        JsonNode given = value;
        given.value = key;
        api.result_for[one_dtype(given)] = one_dtype(value);
      }
    }
  }

  const std::string& version(const JsonNode& node) const {
    const std::string& value = text(node);
    const bool digits = value.find_first_not_of("0123456789.") == std::string::npos;
    if (value.empty() || !digits || value.find('.') == std::string::npos)
      wrong(node, "a version such as \"2.8.0\"");
    return value;
  }

  Dtype one_dtype(const JsonNode& node) const {
    const DtypeSet set = dtype_or_group(node);
    for (Dtype dtype : all_dtypes()) {
      if (set == DtypeSet{dtype}) return dtype;
    }
    wrong(node, "one dtype, not a group");
  }

  void add_operand(Api& api, const JsonNode& node) const {
    check_members(
        node,
        {"role", "argument", "template_argument", "accepts", "same_as", "optional", "direction", "error"},
        {"role"});
    Operand operand;
    const JsonNode& role = *node.member("role");
    operand.role = text(role);
    if (!role_kind(operand.role)) unknown(role, "a role", all_roles());
    add_position(operand, node);
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
    for (const Operand& other : api.operands) {
      if (other.role == operand.role) wrong(role, "a role that no other operand of this API has");
      if (operand.argument >= 0 && other.argument == operand.argument) {
        wrong(*node.member("argument"),
              fmt::format("a position other than that of operand \"{}\"", other.role));
      }
    }
    api.operands.push_back(std::move(operand));
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
  }

  // A tensor among the members of an options argument: it has no position of its own.
  Operand option(const Api& api, const JsonNode& node) const {
    check_members(node, {"role", "accepts", "same_as", "optional"}, {"role", "accepts"});
    Operand operand;
    const JsonNode& role = *node.member("role");
    operand.role = text(role);
    if (!role_kind(operand.role)) unknown(role, "a role", all_roles());
    operand.accepts = dtypes(*node.member("accepts"));
    if (const JsonNode* same_as = node.member("same_as")) operand.same_as = known_role(api, *same_as);
    if (const JsonNode* optional = node.member("optional")) operand.optional = flag(*optional);
    return operand;
  }

  int argument(const JsonNode& node) const {
    const auto* number = std::get_if<std::int64_t>(&node.value);
    if (number == nullptr || *number < 0 || *number > kLargestArgument) {
      wrong(node, fmt::format("a position in the signature, from 0 to {}", kLargestArgument));
    }
    return static_cast<int>(*number);
  }

  bool flag(const JsonNode& node) const {
    if (node.boolean() == nullptr) wrong(node, "true or false");
    return *node.boolean();
  }

  DtypeSet dtypes(const JsonNode& node) const {
    DtypeSet set;
    for (const JsonNode& item : list(node, "at least one dtype")) {
      const DtypeSet more = dtype_or_group(item);
      set = DtypeSet::from_bits(set.bits() | more.bits());
    }
    return set;
  }

  DtypeSet dtype_or_group(const JsonNode& node) const {
    const std::string& written = text(node);
    for (const DtypeGroup& group : kDtypeGroups) {
      if (group.name == written) return group.dtypes;
    }
    for (Dtype dtype : all_dtypes()) {
      if (dtype_guard::name(dtype) == written) return {dtype};
    }
    Names known;
    for (Dtype dtype : all_dtypes()) known.emplace_back(dtype_guard::name(dtype));
    for (const DtypeGroup& group : kDtypeGroups) known.emplace_back(group.name);
    std::string hint = did_you_mean(written, known);
    // "fp16" and "at::kHalf" are dtypes too, only not as this file writes them.
    if (const auto parsed = parse_dtype(written)) {
      hint = fmt::format(", did you mean \"{}\"?", dtype_guard::name(*parsed));
    }
    wrong(node, "a dtype by PyTorch's name, such as \"float16\", or a group (\"half\", \"floating\")" + hint);
  }

  std::map<std::string, AutocastBehaviour> devices(const JsonNode& node) const {
    check_members(node, {"cuda", "cpu", "mps", "xpu"}, {});
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
      if (api.accepted(operand.role).empty()) {
        wrong(node, "a role that leads to an operand with \"accepts\", not in a circle");
      }
    }
  }

  void refuse_repeated_api(const ContractSet& set, const JsonNode& node) const {
    const Api& added = set.apis.back();
    for (const Api& known : set.apis) {
      if (&known == &added || !hold_together(known, added)) continue;
      if (known.name == added.name)
        wrong(*node.member("name"), "each API name once per file, or with \"versions\" that do not overlap");
      for (std::size_t at = 0; at < added.spellings.size(); ++at) {
        if (known.is_spelt(added.spellings[at]))
          wrong((*node.member("spellings")->items())[at],
                fmt::format("a spelling that \"{}\" does not have", known.name));
      }
    }
  }

  const std::string& file_;
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
