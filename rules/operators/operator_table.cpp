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
#include "rules/operators/table_reader.h"
#include "rules/operators/version.h"

namespace dtype_guard {
namespace {

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
  for (Operator& old : variant.earlier) old.out_calls_operator = variant.out_calls_operator;
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
    if (found == operators.end())
      broken_table("operators", spellings, fmt::format("an operator named {}", name));
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
