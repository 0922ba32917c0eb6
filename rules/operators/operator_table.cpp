// The operator table as read from the embedded JSON files, and the lookup of its many spellings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "rules/data/embedded.h"
#include "rules/data/located_json.h"
#include "rules/operators/operators.h"
#include "rules/operators/version.h"

namespace dtype_guard {
namespace {

template <typename Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

const Words<ResultRule> kResultWords = {{"promote", ResultRule::kPromote},
                                        {"promote_int_to_float", ResultRule::kPromoteIntToFloat},
                                        {"promote_to_real", ResultRule::kPromoteToReal},
                                        {"to_real", ResultRule::kToReal},
                                        {"to_complex", ResultRule::kToComplex},
                                        {"promote_bool_to_long", ResultRule::kPromoteBoolToLong},
                                        {"bool", ResultRule::kBool},
                                        {"bool_or_byte", ResultRule::kBoolOrByte},
                                        {"like_first", ResultRule::kLikeFirst},
                                        {"require_same", ResultRule::kRequireSame},
                                        {"sum_like", ResultRule::kSumLike},
                                        {"cast", ResultRule::kCast},
                                        {"factory", ResultRule::kFactory},
                                        {"factory_from_value", ResultRule::kFactoryFromValue},
                                        {"factory_like", ResultRule::kFactoryLike},
                                        {"fixed", ResultRule::kFixed},
                                        {"promote_to_real_float", ResultRule::kPromoteToRealFloat},
                                        {"promote_to_double", ResultRule::kPromoteToDouble},
                                        {"promote_to_complex", ResultRule::kPromoteToComplex},
                                        {"descriptor", ResultRule::kDescriptor}};

const Words<RankRule> kRankWords = {{"broadcast", RankRule::kBroadcast},
                                    {"like_first", RankRule::kLikeFirst},
                                    {"reduce", RankRule::kReduce},
                                    {"plus_one", RankRule::kPlusOne},
                                    {"at_least_one", RankRule::kAtLeastOne},
                                    {"minus_one", RankRule::kMinusOne},
                                    {"zero", RankRule::kZero},
                                    {"from_shape", RankRule::kFromShape},
                                    {"unknown", RankRule::kUnknown}};

const Words<OutRule> kOutWords = {{"fits", OutRule::kFits},
                                  {"fits_kind", OutRule::kFitsKind},
                                  {"exact", OutRule::kExact},
                                  {"any", OutRule::kAny}};

// The tables are ours and compiled in: a mistake in one is a defect of the build, found by the first test
// that runs.
[[noreturn]] void broken(std::string_view file, const JsonNode& node, std::string_view expected) {
  throw std::logic_error(fmt::format("rules/operators/{}:{}: {}: found {}, expected {}", file, node.line,
                                     node.pointer(), node.describe(), expected));
}

class TableReader {
 public:
  explicit TableReader(std::string_view file) : file_(file) {}

  std::vector<Operator> group(const JsonNode& node) const {
    Operator shared;
    shared.result = word(required(node, "result"), kResultWords);
    shared.rank = word(required(node, "rank"), kRankWords);
    shared.arguments = strings(required(node, "arguments"));
    if (const JsonNode* promoting = node.member("promoting")) shared.promoting = strings(*promoting);
    if (const JsonNode* fixed = node.member("fixed")) shared.fixed = dtype(*fixed);
    if (const JsonNode* inner = node.member("composed_of")) shared.composed_of = text(*inner);
    if (const JsonNode* refuses = node.member("refuses")) shared.refuses = dtypes(*refuses);
    if (const JsonNode* operand = node.member("refuses_operand")) shared.refuses_operand = dtypes(*operand);
    if (const JsonNode* before = node.member("before")) shared.before = text(*before);
    if (const JsonNode* quotient = node.member("quotient")) shared.quotient = strings(*quotient);
    if (const JsonNode* parameters = node.member("parameters")) shared.parameters = strings(*parameters);
    if (const JsonNode* mask = node.member("mask")) shared.mask = text(*mask);
    if (const JsonNode* unchecked = node.member("unchecked")) shared.unchecked = dtypes(*unchecked);
    shared.dtype_widens = flag(node, "dtype_widens");
    shared.bool_counts = flag(node, "bool_counts");
    shared.exact_target = flag(node, "exact_target");
    shared.numbers_pass = flag(node, "numbers_pass");
    shared.requires_same = flag(node, "requires_same");
    shared.checks_first = flag(node, "checks_first");
    shared.list_result = flag(node, "list_result");
    shared.in_place = flag(node, "in_place_only");
    std::vector<Operator> made;
    for (const std::string& name : strings(required(node, "names"))) {
      made.push_back(shared);
      made.back().name = name;
    }
    return made;
  }

  static bool flag(const JsonNode& node, std::string_view key) {
    const JsonNode* member = node.member(key);
    return member != nullptr && member->boolean() != nullptr && *member->boolean();
  }

  const JsonNode& required(const JsonNode& node, std::string_view key) const {
    const JsonNode* member = node.member(key);
    if (member == nullptr) broken(file_, node, fmt::format("a member \"{}\"", key));
    return *member;
  }

  std::vector<std::string> strings(const JsonNode& node) const {
    if (node.items() == nullptr) broken(file_, node, "an array of strings");
    std::vector<std::string> made;
    for (const JsonNode& item : *node.items()) made.push_back(text(item));
    return made;
  }

  std::string text(const JsonNode& node) const {
    if (node.string() == nullptr) broken(file_, node, "a string");
    return *node.string();
  }

  OutRule out_rule(const JsonNode& node) const { return word(required(node, "rule"), kOutWords); }

 private:
  // Dtypes by name or category: "integral" (bool does not count), "bool", "floating", "half", "complex".
  DtypeSet dtypes(const JsonNode& node) const {
    DtypeSet set;
    for (const JsonNode& item : *node.items()) {
      const std::string word = text(item);
      for (Dtype each : all_dtypes()) {
        const bool in_category = (word == "integral" && is_integral(each)) ||
                                 (word == "half" && is_half(each)) ||
                                 (word == "complex" && is_complex(each)) ||
                                 (word == "floating" && category(each) == DtypeCategory::kFloating);
        if (in_category || name(each) == word) set.insert(each);
      }
    }
    if (set.empty()) broken(file_, node, "dtypes or categories of dtypes");
    return set;
  }

  Dtype dtype(const JsonNode& node) const {
    const auto parsed = parse_dtype(text(node));
    if (!parsed) broken(file_, node, "a dtype");
    return *parsed;
  }

  template <typename Value>
  Value word(const JsonNode& node, const Words<Value>& words) const {
    for (const auto& [written, value] : words) {
      if (text(node) == written) return value;
    }
    broken(file_, node, "a rule that operators.h lists");
  }

  std::string_view file_;
};

struct OperatorTable {
  std::vector<Operator> entries;
  std::vector<Operator> variants;                          // in-place and out=
  std::unordered_map<std::string, const Operator*> names;  // canonical names, variants and aliases

  std::vector<Operator>
      earlier;  // rows of older releases, until attach_earlier() puts them where they belong

  void add_variants(const Operator& entry, bool in_place);
  void attach_earlier();
  void index();

  struct OutRow {
    OutRule rule;
    std::string before;  // as Operator::before
  };
  std::unordered_map<std::string, std::vector<OutRow>> out_rules;  // of "NAME_out", oldest release first
  std::set<std::string> out_calls_operator;
  void apply_out_rules();
  void apply_out_rules(Operator& variant);
};

void OperatorTable::add_variants(const Operator& entry, bool in_place) {
  if (in_place) {
    Operator& variant = variants.emplace_back(entry);
    variant.name += '_';
    variant.in_place = true;
    variant.aliases.clear();
  }
  if (!entry.in_place && entry.result != ResultRule::kDescriptor && !entry.list_result) {
    Operator& variant = variants.emplace_back(entry);
    variant.name += "_out";
    variant.in_place = true;
    variant.arguments.insert(variant.arguments.begin(), "out");
    variant.aliases.clear();
  }
}

// An older release's row holds for the variants of its operator too.
void OperatorTable::attach_earlier() {
  std::unordered_map<std::string_view, std::vector<const Operator*>> rows;  // as in the files: oldest first
  for (const Operator& row : earlier) rows[row.name].push_back(&row);
  const auto attach = [&rows](Operator& entry, std::string_view name, bool out) {
    const auto found = rows.find(name);
    if (found == rows.end()) return;
    for (const Operator* row : found->second) {
      Operator& old = entry.earlier.emplace_back(*row);
      old.name = entry.name;
      old.in_place = entry.in_place;
      if (out) old.arguments = entry.arguments;
    }
  };
  for (std::vector<Operator>* list : {&entries, &variants}) {
    for (Operator& entry : *list) {
      const std::string_view name = entry.name;
      attach(entry, name, false);
      if (name.ends_with("_")) attach(entry, name.substr(0, name.size() - 1), false);
      if (name.ends_with("_out")) attach(entry, name.substr(0, name.size() - 4), true);
    }
  }
  earlier.clear();
}

// After attach_earlier(): a rule of an older release needs a row of its own.
void OperatorTable::apply_out_rules() {
  for (std::vector<Operator>* list : {&entries, &variants}) {
    for (Operator& variant : *list) apply_out_rules(variant);
  }
  out_rules.clear();
  out_calls_operator.clear();
}

void OperatorTable::apply_out_rules(Operator& variant) {
  variant.out_calls_operator = out_calls_operator.count(variant.name) > 0;
  const auto found = out_rules.find(variant.name);
  if (found == out_rules.end()) return;
  for (const OutRow& row : found->second) {
    if (!row.before.empty()) continue;
    variant.out = row.rule;
    for (Operator& old : variant.earlier) old.out = row.rule;
  }
  for (const OutRow& row : found->second) {
    if (row.before.empty()) continue;
    const auto same = [&row](const Operator& old) { return old.before == row.before; };
    auto old = std::find_if(variant.earlier.begin(), variant.earlier.end(), same);
    if (old == variant.earlier.end()) {
      Operator copy = variant;
      copy.earlier.clear();
      copy.before = row.before;
      old = variant.earlier.insert(variant.earlier.begin(), std::move(copy));
    }
    old->out = row.rule;
  }
}

void OperatorTable::index() {
  for (const std::vector<Operator>* list : {&entries, &variants}) {
    for (const Operator& entry : *list) {
      names.emplace(entry.name, &entry);
      for (const std::string& alias : entry.aliases) names.emplace(alias, &entry);
    }
  }
}

using OperatorsByName = std::unordered_map<std::string_view, std::vector<Operator*>>;

OperatorsByName by_name(OperatorTable& table) {
  OperatorsByName operators;
  for (std::vector<Operator>* list : {&table.entries, &table.variants}) {
    for (Operator& entry : *list) operators[entry.name].push_back(&entry);
  }
  return operators;
}

void add_aliases(const OperatorsByName& operators, const TableReader& reader, const JsonNode& aliases) {
  for (const auto& [name, spellings] : *aliases.members()) {
    const auto found = operators.find(name);
    if (found == operators.end()) broken("operators", spellings, fmt::format("an operator named {}", name));
    for (Operator* entry : found->second) entry->aliases = reader.strings(spellings);
  }
}

void read_file(OperatorTable& table, const EmbeddedFile& file, const JsonNode& root) {
  const TableReader reader(file.name);
  for (const JsonNode& node : *reader.required(root, "operators").items()) {
    for (Operator& entry : reader.group(node)) {
      if (!entry.before.empty()) {
        table.earlier.push_back(std::move(entry));
        continue;
      }
      table.add_variants(entry, TableReader::flag(node, "in_place"));
      table.entries.push_back(std::move(entry));
    }
  }
  const JsonNode* out = root.member("out");
  if (out == nullptr) return;
  for (const std::string& name : reader.strings(reader.required(root, "out_calls_operator")))
    table.out_calls_operator.insert(name + "_out");
  for (const JsonNode& node : *out->items()) {
    const JsonNode* before = node.member("before");
    for (const std::string& name : reader.strings(reader.required(node, "names"))) {
      table.out_rules[name + "_out"].push_back(
          {reader.out_rule(node), before != nullptr ? reader.text(*before) : std::string()});
    }
  }
}

const OperatorTable& table() {
  // On the heap and never freed: `names` points into it, and lookups may run while the process exits.
  static const OperatorTable* const made = [] {
    auto* table = new OperatorTable;
    table->entries.reserve(1024);
    table->variants.reserve(2048);
    table->earlier.reserve(512);
    table->names.reserve(8192);
    std::vector<std::pair<std::string, JsonNode>> files;
    for (const EmbeddedFile& file : embedded_operators()) {
      if (file.name == "autocast.json") continue;
      files.emplace_back(file.name, parse_located_json(file.text));
      read_file(*table, file, files.back().second);
    }
    // A file may name operators of another, so all entries come first.
    const OperatorsByName operators = by_name(*table);
    for (const auto& [name, root] : files) {
      const TableReader reader(name);
      add_aliases(operators, reader, reader.required(root, "aliases"));
    }
    table->attach_earlier();
    table->apply_out_rules();
    table->index();
    return table;
  }();
  return *made;
}

const Operator* find_name(std::string_view name) {
  const auto found = table().names.find(std::string(name));
  return found == table().names.end() ? nullptr : found->second;
}

// Where ATen operators are reachable from; the longest first, so that a prefix never hides a longer one.
constexpr std::array<std::string_view, 24> kPrefixes = {"torch::nn::functional::",
                                                        "torch.ops.aten.",
                                                        "torch.special.",
                                                        "torch.linalg.",
                                                        "torch.fft.",
                                                        "torch::fft::",
                                                        "at::fft::",
                                                        "torch.nn.functional.",
                                                        "at::TensorBase::",
                                                        "c10::TensorBase::",
                                                        "torch::special::",
                                                        "torch::linalg::",
                                                        "torch::Tensor::",
                                                        "torch.Tensor.",
                                                        "at::_ops::",
                                                        "at::Tensor::",
                                                        "at::native::",
                                                        "torch::nn::init::",
                                                        "Tensor.",
                                                        "aten::",
                                                        "torch::",
                                                        "torch.",
                                                        "F.",
                                                        "at::"};

}  // namespace

const Operator* find_operator(std::string_view spelling) {
  if (spelling.starts_with("::")) spelling.remove_prefix(2);
  if (const Operator* exact = find_name(spelling)) return exact;
  for (std::string_view prefix : kPrefixes) {
    if (!spelling.starts_with(prefix)) continue;
    std::string_view rest = spelling.substr(prefix.size());
    for (std::string_view family : {"linalg", "special", "fft"}) {
      if (prefix.find(family) == std::string_view::npos) continue;
      const Operator* own = find_name(fmt::format("{}_{}", family, rest));
      return own != nullptr || family == "linalg" ? own : find_name(rest);
    }
    // Overload names belong to ATen's schema spelling only: aten::mul.Tensor.
    if (prefix == "aten::" || prefix == "torch.ops.aten.") rest = rest.substr(0, rest.find('.'));
    return find_name(rest);
  }
  return nullptr;
}

const Operator& operator_at(const Operator& op, std::string_view torch_version) {
  const TorchVersion version = parse_torch_version(torch_version);
  for (const Operator& row : op.earlier) {
    if (version < parse_torch_version(row.before)) return row;
  }
  return op;
}

const std::vector<Operator>& all_operators() { return table().entries; }
const std::vector<Operator>& all_variants() { return table().variants; }

}  // namespace dtype_guard
