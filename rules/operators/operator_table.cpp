// The operator table as read from the embedded JSON files, and the lookup of its many spellings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "rules/data/embedded.h"
#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"
#include "rules/operators/library_operators.h"
#include "rules/operators/operators.h"
#include "rules/operators/table_reader.h"
#include "rules/operators/version.h"

namespace dtype_guard {
namespace {

struct OperatorTable {
  std::vector<Operator> entries;
  std::vector<Operator> variants;      // in-place and out=
  std::vector<Operator> others;        // of other libraries
  std::vector<std::string> libraries;  // of each of those
  // Canonical names, variants and aliases, as the entries hold them.
  std::unordered_map<std::string_view, Operator*> names;

  // Until they are put where they belong:
  std::vector<Operator> earlier;  // rows of older releases
  std::vector<std::pair<std::string, std::vector<std::string>>> aliases;
  std::unordered_map<std::string, DtypeSet> also_refused;
  std::unordered_map<std::string, SharedNames> scaled_by;

  void add_variants(const Operator& entry, bool in_place, const SharedNames& out_arguments);
  void attach_earlier();
  void refuse_more();
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

void OperatorTable::add_variants(const Operator& entry, bool in_place, const SharedNames& out_arguments) {
  if (in_place) {
    Operator& variant = variants.emplace_back(entry);
    variant.name += '_';
    variant.in_place = true;
  }
  if (!entry.in_place && entry.result != ResultRule::kDescriptor && !entry.list_result) {
    Operator& variant = variants.emplace_back(entry);
    variant.name += "_out";
    variant.in_place = true;
    variant.arguments = out_arguments;
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

// "also_refuses" and "scaled_by" name operators of any file, the generated one included, and hold for their
// variants and older releases.
void OperatorTable::refuse_more() {
  const auto add = [](Operator& op, DtypeSet more, const SharedNames& scales) {
    op.refuses = DtypeSet::from_bits(op.refuses.bits() | more.bits());
    if (!scales.empty()) op.scales = scales;
  };
  for (std::vector<Operator>* list : {&entries, &variants}) {
    for (Operator& entry : *list) {
      std::string name = entry.name;
      if (entry.in_place && name.ends_with("_out")) name.resize(name.size() - 4);
      if (entry.in_place && name.ends_with("_")) name.pop_back();
      const auto refused = also_refused.find(name);
      const auto scaled = scaled_by.find(name);
      const DtypeSet more = refused != also_refused.end() ? refused->second : DtypeSet();
      const SharedNames scales = scaled != scaled_by.end() ? scaled->second : SharedNames();
      add(entry, more, scales);
      for (Operator& old : entry.earlier) add(old, more, scales);
    }
  }
  also_refused.clear();
  scaled_by.clear();
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

// A file may name operators of another, so all entries come first.
void OperatorTable::index() {
  for (std::vector<Operator>* list : {&entries, &variants, &others}) {
    for (Operator& entry : *list) names.emplace(entry.name, &entry);
  }
  for (auto& [name, spellings] : aliases) {
    const auto found = names.find(name);
    if (found == names.end())
      throw std::logic_error("rules/operators: aliases of " + name + ", which no entry describes");
    std::vector<std::string>& own = found->second->aliases;
    own = std::move(spellings);
    for (const std::string& alias : own) names.emplace(alias, found->second);
  }
  aliases.clear();
}

void read_file(OperatorTable& table, const EmbeddedFile& file, const JsonNode& root) {
  const TableReader reader(file.name);
  const JsonNode* library = root.member("library");
  for (const JsonNode& node : *reader.required(root, "operators").items()) {
    std::vector<Operator> group = reader.group(node);
    if (library != nullptr) {
      table.others.insert(table.others.end(), group.begin(), group.end());
      table.libraries.resize(table.others.size(), reader.text(*library));
      continue;
    }
    std::vector<std::string> out_arguments = {"out"};
    for (const std::string& argument : group.front().arguments) out_arguments.push_back(argument);
    const SharedNames shared(std::move(out_arguments));
    for (Operator& entry : group) {
      if (!entry.before.empty()) {
        table.earlier.push_back(std::move(entry));
        continue;
      }
      table.add_variants(entry, TableReader::flag(node, "in_place"), shared);
      table.entries.push_back(std::move(entry));
    }
  }
  for (const auto& [name, spellings] : *reader.required(root, "aliases").members())
    table.aliases.emplace_back(name, reader.strings(spellings));
  if (const JsonNode* more = root.member("also_refuses")) {
    for (const JsonNode& node : *more->items()) {
      const DtypeSet dtypes = reader.dtypes(reader.required(node, "dtypes"));
      for (const std::string& name : reader.strings(reader.required(node, "names")))
        table.also_refused[name] = dtypes;
    }
  }
  if (const JsonNode* scaled = root.member("scaled_by")) {
    for (const JsonNode& node : *scaled->items()) {
      const SharedNames scales = reader.strings(reader.required(node, "arguments"));
      for (const std::string& name : reader.strings(reader.required(node, "names")))
        table.scaled_by[name] = scales;
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
    table->entries.reserve(768);
    table->variants.reserve(1024);
    table->names.reserve(4096);
    for (const EmbeddedFile& file : embedded_operators()) {
      if (file.name != "autocast.json") read_file(*table, file, parse_located_json(file.text));
    }
    table->attach_earlier();
    table->refuse_more();
    table->apply_out_rules();
    table->index();
    return table;
  }();
  return *made;
}

const Operator* find_name(std::string_view name) {
  const auto found = table().names.find(name);
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

const SharedNames& dim_alone() {
  static const SharedNames names({"dim"});
  return names;
}

const std::vector<std::string>& SharedNames::none() {
  static const std::vector<std::string> empty;
  return empty;
}

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

const Operator* find_operator_by_last_word(std::string_view name) {
  for (std::string_view prefix : kPrefixes) {
    if (const Operator* found = find_operator(std::string(prefix).append(name))) return found;
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

const std::vector<Operator>& library_operators() { return table().others; }

std::string_view library_of(const Operator& op) {
  const std::vector<Operator>& all = table().others;
  const auto at = std::find_if(all.begin(), all.end(), [&](const Operator& each) { return &each == &op; });
  if (at == all.end()) return {};
  return table().libraries[static_cast<std::size_t>(at - all.begin())];
}

bool has_own_operators(std::string_view library) {
  const std::vector<std::string>& all = table().libraries;
  return std::find(all.begin(), all.end(), library) != all.end();
}

}  // namespace dtype_guard
