#include "rules/report/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "rules/data/located_json.h"
#include "rules/report/json_stream.h"
#include "rules/report/schema_check.h"

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

BaselineEntry read_entry(const JsonNode& node) {
  BaselineEntry entry;
  entry.fingerprint = text_of(node, "fingerprint");
  entry.rule = text_of(node, "rule");
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
    for (const JsonNode& node : *root.member("findings")->items()) baseline.push_back(read_entry(node));
  } catch (const JsonError& error) {
    throw ReportError(fmt::format("{}:{}: {}: {}", file, error.line,
                                  error.pointer.empty() ? "/" : error.pointer, error.problem));
  }
  return baseline;
}

Baseline load_baseline(const std::filesystem::path& file) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(file, error);
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (is_folder || !in || (text << in.rdbuf(), in.bad())) {
    throw ReportError(fmt::format("'{}' is {}; expected a baseline, as --write-baseline makes it",
                                  file.string(), is_folder ? "a folder" : "no file that can be read"));
  }
  return read_baseline(text.str(), file.string());
}

void check_baseline_target(const std::filesystem::path& file) {
  std::error_code error;
  const bool existed = std::filesystem::exists(file, error);
  const bool writable = std::ofstream(file, std::ios::app).is_open();
  const std::string reason = std::strerror(errno);
  if (!writable) {
    throw ReportError(fmt::format(
        "cannot write '{}': {}; name a file in a folder that exists and is writable", file.string(), reason));
  }
  if (!existed) std::filesystem::remove(file, error);
}

void save_baseline(const std::filesystem::path& file, const Report& report) {
  std::ofstream out(file, std::ios::trunc | std::ios::binary);
  write_baseline(out, report);
  if (!out.flush()) throw ReportError(fmt::format("writing '{}' failed; is the disk full?", file.string()));
}

void apply_baseline(Report& report, const Baseline& baseline, const AnalysedFile& analysed) {
  std::erase_if(report.findings, [](const Finding& finding) { return finding.baseline == "fixed"; });
  normalise(report);
  std::map<std::string, bool> known;  // fingerprint -> whether it was suppressed
  for (const BaselineEntry& entry : baseline) known.emplace(entry.fingerprint, entry.suppressed);
  std::set<std::string> present;
  for (Finding& finding : report.findings) {
    const auto before = known.find(finding.fingerprint);
    const bool was_known = before != known.end() && (!before->second || finding.suppression);
    finding.baseline = was_known ? "unchanged" : "new";
    present.insert(finding.fingerprint);
  }
  std::set<std::string> unknown;
  for (const NotAnalysed& entry : report.not_analysed) unknown.insert(entry.file);
  for (const BaselineEntry& entry : baseline) {
    if (entry.suppressed || unknown.count(entry.file) > 0 || (analysed && !analysed(entry.file))) continue;
    if (present.insert(entry.fingerprint).second) report.findings.push_back(fixed(entry));
  }
  normalise(report);
}

}  // namespace dtype_guard
