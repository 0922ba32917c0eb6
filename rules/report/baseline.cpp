#include "rules/report/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "rules/data/located_json.h"
#include "rules/report/json_stream.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kSchema = "dtype-guard/baseline/1";
constexpr std::string_view kReportSchema = "dtype-guard/report/1";

[[noreturn]] void wrong(const std::string& file, const JsonNode& node, std::string_view expected) {
  throw ReportError(fmt::format("{}:{}: {}: found {}, expected {}", file, node.line,
                                node.pointer.empty() ? "/" : node.pointer, node.describe(), expected));
}

const std::string& text_of(const std::string& file, const JsonNode& entry, std::string_view key) {
  static const std::string none;
  if (entry.members() == nullptr) wrong(file, entry, "an object");
  const JsonNode* node = entry.member(key);
  if (node == nullptr) return none;
  if (node->string() == nullptr) wrong(file, *node, "a string");
  return *node->string();
}

BaselineEntry read_entry(const std::string& file, const JsonNode& node) {
  BaselineEntry entry;
  entry.fingerprint = text_of(file, node, "fingerprint");
  if (entry.fingerprint.empty()) wrong(file, node, "an entry with a \"fingerprint\"");
  entry.rule = text_of(file, node, "rule");
  entry.file = text_of(file, node, "file");
  entry.function = text_of(file, node, "function");
  entry.message = text_of(file, node, "message");
  if (const JsonNode* level = node.member("level")) {
    const std::optional<Level> known = parse_level(text_of(file, node, "level"));
    if (!known) wrong(file, *level, "\"error\", \"warning\" or \"note\"");
    entry.level = *known;
  }
  return entry;
}

bool belongs(const Finding& finding) { return !finding.suppression && finding.baseline != "fixed"; }

BaselineEntry entry_of(const Finding& finding) {
  return {finding.fingerprint,       finding.rule,    finding.location.file,
          finding.location.function, finding.message, finding.level};
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
    const std::string& schema = text_of(file, root, "schema");
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
    const JsonNode* findings = root.member("findings");
    if (findings == nullptr) wrong(file, root, "a member \"findings\"");
    if (findings->items() == nullptr) wrong(file, *findings, "an array");
    for (const JsonNode& node : *findings->items()) baseline.push_back(read_entry(file, node));
  } catch (const JsonError& error) {
    throw ReportError(fmt::format("{}:{}: {}", file, error.line, error.problem));
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
  std::set<std::string> known;
  for (const BaselineEntry& entry : baseline) known.insert(entry.fingerprint);
  std::set<std::string> present;
  for (Finding& finding : report.findings) {
    finding.baseline = known.count(finding.fingerprint) > 0 ? "unchanged" : "new";
    present.insert(finding.fingerprint);
  }
  std::set<std::string> unknown;
  for (const NotAnalysed& entry : report.not_analysed) unknown.insert(entry.file);
  for (const BaselineEntry& entry : baseline) {
    if (unknown.count(entry.file) > 0 || (analysed && !analysed(entry.file))) continue;
    if (present.insert(entry.fingerprint).second) report.findings.push_back(fixed(entry));
  }
  normalise(report);
}

}  // namespace dtype_guard
