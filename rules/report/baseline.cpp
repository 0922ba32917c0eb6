#include "rules/report/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "rules/catalog/catalog.h"
#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"
#include "rules/files/atomic_file.h"
#include "rules/files/input_file.h"
#include "rules/report/json_stream.h"
#include "rules/report/schema_check.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kSchema = "dtype-guard/baseline/1";
constexpr std::string_view kReportSchema = "dtype-guard/report/1";

[[noreturn]] void wrong(const std::string& file, const JsonNode& node, std::string_view expected) {
  throw ReportError(fmt::format("{}:{}: {}: found {}, expected {}", file, node.line,
                                node.pointer().empty() ? "/" : node.pointer(), node.describe(), expected));
}

std::string text_of(const JsonNode& object, std::string_view key) {
  const JsonNode* node = object.member(key);
  return node == nullptr || node->string() == nullptr ? std::string() : *node->string();
}

// "v1:" and 16 hexadecimal digits, as fingerprint() makes them.
bool is_fingerprint(std::string_view text) {
  constexpr std::string_view kVersion = "v1:";
  return text.starts_with(kVersion) && text.size() == kVersion.size() + 16 &&
         text.find_first_not_of("0123456789abcdef", kVersion.size()) == std::string_view::npos;
}

// What can match nothing, a rule or a fingerprint that does not exist, would hide nothing and be called
// fixed.
BaselineEntry read_entry(const JsonNode& node, const std::string& file) {
  BaselineEntry entry;
  entry.fingerprint = text_of(node, "fingerprint");
  if (!is_fingerprint(entry.fingerprint)) {
    wrong(file, *node.member("fingerprint"),
          "\"v1:\" and 16 hexadecimal digits; make the baseline anew with --write-baseline");
  }
  entry.rule = text_of(node, "rule");
  if (!entry.rule.empty() && find_rule(entry.rule) == nullptr) {
    std::vector<std::string> rules;
    for (const Rule& rule : catalog()) rules.push_back(rule.id);
    wrong(file, *node.member("rule"),
          "a rule's id" + did_you_mean(entry.rule, rules) +
              "; the baseline of another release is made anew with --write-baseline");
  }
  entry.file = text_of(node, "file");
  entry.function = text_of(node, "function");
  entry.message = text_of(node, "message");
  entry.level = parse_level(text_of(node, "level")).value_or(entry.level);
  const JsonNode* suppressed = node.member("suppressed");
  entry.suppressed = suppressed != nullptr && *suppressed->boolean();
  return entry;
}

bool belongs(const Finding& finding) { return finding.baseline != "fixed"; }

BaselineEntry entry_of(const Finding& finding) {
  return {finding.fingerprint, finding.rule,  finding.location.file,          finding.location.function,
          finding.message,     finding.level, finding.suppression.has_value()};
}

Finding fixed(const BaselineEntry& entry) {
  Finding finding;
  finding.rule = entry.rule;
  finding.level = entry.level;
  finding.message = entry.message;
  finding.fingerprint = entry.fingerprint;
  finding.location.file = entry.file;
  finding.location.function = entry.function;
  finding.baseline = "fixed";
  return finding;
}

// Which entry of the baseline a finding is. Each entry is one finding: first of its own file, under any of
// the ordinals that a finding like it may have had; then, where the entry's file is no more, of whatever file
// it is in now.
class Matches {
 public:
  Matches(const Baseline& baseline, std::filesystem::path root) : root_(std::move(root)) {
    for (const BaselineEntry& entry : baseline) {
      if (!all_.insert({entry.fingerprint, entry.file}).second) continue;  // written twice
      entries_.push_back(&entry);
      by_fingerprint_[entry.fingerprint].push_back(entries_.size() - 1);
    }
    taken_.resize(entries_.size());
  }

  std::vector<const BaselineEntry*> of(const std::vector<Finding>& findings) {
    std::vector<const BaselineEntry*> found(findings.size());
    const auto pass = [&](int ordinals, bool elsewhere) {
      for (std::size_t i = 0; i < findings.size(); ++i) {
        if (found[i] == nullptr) found[i] = take(findings[i], ordinals, elsewhere);
      }
    };
    for (const bool elsewhere : {false, true}) {
      for (const int ordinals : {0, kOrdinals}) pass(ordinals, elsewhere);
    }
    return found;
  }

  std::vector<const BaselineEntry*> left() const {
    std::vector<const BaselineEntry*> entries;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!taken_[i]) entries.push_back(entries_[i]);
    }
    return entries;
  }

 private:
  static constexpr int kOrdinals = 32;

  const BaselineEntry* take(const Finding& finding, int ordinals, bool elsewhere) {
    for (const std::string& fingerprint : equal_fingerprints(finding, ordinals)) {
      const auto found = by_fingerprint_.find(fingerprint);
      if (found == by_fingerprint_.end()) continue;
      for (const std::size_t index : found->second) {
        const std::string& file = entries_[index]->file;
        const bool here = file.empty() || file == finding.location.file;
        if (taken_[index] || !(here || (elsewhere && is_gone(file)))) continue;
        taken_[index] = true;
        return entries_[index];
      }
    }
    return nullptr;
  }

  bool is_gone(const std::string& file) const {
    std::error_code error;
    return !std::filesystem::exists(root_ / file, error);
  }

  std::filesystem::path root_;
  std::set<std::pair<std::string, std::string>> all_;  // fingerprint and file
  std::vector<const BaselineEntry*> entries_;
  std::vector<bool> taken_;
  std::map<std::string, std::vector<std::size_t>> by_fingerprint_;
};

}  // namespace

void write_baseline(std::ostream& out, const Report& report) {
  {
    JsonStream json(out);
    json.begin_object();
    json.member("schema", kSchema);
    json.key("findings").begin_array();
    for (const Finding& finding : report.findings) {
      if (!belongs(finding)) continue;
      json.begin_object();
      json.member("fingerprint", finding.fingerprint);
      json.member("rule", finding.rule);
      json.member("level", name(finding.level));
      json.member("file", finding.location.file);
      json.member("function", finding.location.function);
      json.member("message", finding.message);
      if (finding.suppression) json.member("suppressed", true);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  out << '\n';
}

Baseline read_baseline(std::string_view text, const std::string& file) {
  Baseline baseline;
  try {
    const JsonNode root = parse_located_json(text);
    const std::string schema = text_of(root, "schema");
    if (schema == kReportSchema) {
      for (const Finding& finding : read_json(text, file).findings) {
        if (belongs(finding)) baseline.push_back(entry_of(finding));
      }
      return baseline;
    }
    if (schema != kSchema) {
      wrong(file, root,
            fmt::format("a baseline with \"schema\": \"{}\", as --write-baseline makes it", kSchema));
    }
    check_schema(root, "baseline.schema.json", file);
    for (const JsonNode& node : *root.member("findings")->items()) baseline.push_back(read_entry(node, file));
  } catch (const JsonError& error) {
    throw ReportError(fmt::format("{}:{}: {}: {}", file, error.line,
                                  error.pointer.empty() ? "/" : error.pointer, error.problem));
  }
  return baseline;
}

Baseline load_baseline(const std::filesystem::path& file) {
  const InputFile input = read_input(file);
  if (!input.found.empty()) {
    throw ReportError(fmt::format("'{}' is {}; expected a baseline, as --write-baseline makes it",
                                  file.string(), input.found));
  }
  return read_baseline(input.text, file.string());
}

void check_baseline_target(const std::filesystem::path& file) {
  const std::string reason = why_not_writable(file.string());
  if (reason.empty()) return;
  throw ReportError(fmt::format("cannot write '{}': {}; name a file in a folder that exists and is writable",
                                file.string(), reason));
}

void save_baseline(const std::filesystem::path& file, const Report& report) {
  std::ostringstream text;
  write_baseline(text, report);
  const std::string problem = write_atomically(file.string(), text.str());
  if (!problem.empty()) throw ReportError(fmt::format("writing '{}' failed: {}", file.string(), problem));
}

void apply_baseline(Report& report, const Baseline& baseline, const AnalysedFile& analysed) {
  std::erase_if(report.findings, [](const Finding& finding) { return finding.baseline == "fixed"; });
  normalise(report);
  Matches matches(baseline, report.root);
  const std::vector<const BaselineEntry*> known = matches.of(report.findings);
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    Finding& finding = report.findings[i];
    const bool was_known = known[i] != nullptr && (!known[i]->suppressed || finding.suppression);
    finding.baseline = was_known ? "unchanged" : "new";
  }
  std::set<std::string> unknown;
  for (const NotAnalysed& entry : report.not_analysed) unknown.insert(entry.file);
  for (const BaselineEntry* entry : matches.left()) {
    if (entry->suppressed || unknown.count(entry->file) > 0 || (analysed && !analysed(entry->file))) continue;
    report.findings.push_back(fixed(*entry));
  }
  normalise(report);
}

}  // namespace dtype_guard
