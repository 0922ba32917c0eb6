#include "rules/report/sarif_run.h"

#include <fmt/format.h>

#include <vector>

#include "rules/catalog/catalog.h"
#include "rules/report/sight.h"

namespace dtype_guard::sarif {
namespace {

constexpr std::size_t kLongestDescription = 1024;  // of fullDescription, for GitHub

void message(JsonStream& json, std::string_view key, std::string_view text) {
  json.key(key).begin_object();
  json.member("text", text);
  json.end_object();
}

// One paragraph on one line, cut at a word where it is too long.
std::string one_line(std::string_view paragraph) {
  std::string text(paragraph);
  for (char& c : text) c = c == '\n' ? ' ' : c;
  if (text.size() <= kLongestDescription) return text;
  text.resize(text.rfind(' ', kLongestDescription - 4));
  return text + " ...";
}

void write_rule(JsonStream& json, const std::string& id, std::string_view pages) {
  const Rule* rule = find_rule(id);
  json.begin_object();
  json.member("id", id);
  message(json, "shortDescription", rule != nullptr ? rule->summary : id);
  if (rule != nullptr) {
    message(json, "fullDescription", one_line(section(*rule, "What it says")));
    json.key("help").begin_object();
    json.member("text", rule->text);
    json.member("markdown", rule->text);
    json.end_object();
    if (!pages.empty())
      json.member("helpUri", fmt::format("{}{}{}.md", pages, pages.ends_with('/') ? "" : "/", uri_path(id)));
  }
  json.key("defaultConfiguration").begin_object();
  json.member("level", "error");
  json.end_object();
  json.key("properties").begin_object();
  json.member("precision", "high");
  json.member("problem.severity", "error");
  json.member("tags", std::vector<std::string>{"correctness", "dtype", "attention"});
  json.end_object();
  json.end_object();
}

void notification(JsonStream& json, std::string_view id, const std::string& text, const std::string& file,
                  std::string_view level = "warning") {
  json.begin_object();
  json.key("descriptor").begin_object();
  json.member("id", id);
  json.end_object();
  json.member("level", level);
  message(json, "message", text);
  if (!file.empty()) {
    json.key("locations").begin_array();
    json.begin_object();
    json.key("physicalLocation").begin_object();
    json.key("artifactLocation").begin_object();
    const bool relative = file.front() != '/';
    json.member("uri", (relative ? "" : "file://") + uri_path(file));
    if (relative) json.member("uriBaseId", kSourceRoot);
    json.end_object();
    json.end_object();
    json.end_object();
    json.end_array();
  }
  json.end_object();
}

void left_out(JsonStream& json, std::size_t count, std::size_t limit, std::string_view things) {
  if (count == 0) return;
  notification(json, "limit", fmt::format("{} {} left out: GitHub takes {}", count, things, limit), "");
}

}  // namespace

std::map<std::string, std::size_t> rule_indices(const Report& report) {
  std::map<std::string, std::size_t> indices;
  for (const Rule& rule : catalog()) indices.emplace(rule.id, indices.size());
  for (const Finding& finding : report.findings) indices.emplace(finding.rule, indices.size());
  return indices;
}

std::string uri_path(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/!$&'()*+,;=@";
  std::string uri;
  for (char c : path) {
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (alphanumeric || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

void write_tool(JsonStream& json, const Report& report, const std::map<std::string, std::size_t>& rules,
                const Pages& pages) {
  std::vector<std::string> ids(rules.size());
  for (const auto& [id, index] : rules) ids[index] = id;
  json.key("tool").begin_object();
  json.key("driver").begin_object();
  json.member("name", report.tool);
  json.member_if("version", report.tool_version);
  json.member_if("semanticVersion", report.tool_version);
  json.member_if("informationUri", pages.home);
  json.key("rules").begin_array();
  for (const std::string& id : ids) write_rule(json, id, pages.rules);
  json.end_array();
  json.end_object();
  json.end_object();
}

void write_bases(JsonStream& json, const Report& report) {
  if (report.root.empty() || report.root.front() != '/') return;
  json.key("originalUriBaseIds").begin_object();
  json.key(kSourceRoot).begin_object();
  json.member("uri", "file://" + uri_path(report.root) + (report.root.back() == '/' ? "" : "/"));
  json.end_object();
  json.end_object();
}

void write_invocation(JsonStream& json, const Report& report, const Limits& limits, const Excess& excess) {
  bool successful = true;
  for (const NotAnalysed& entry : report.not_analysed) successful &= !is_failure(entry);
  json.key("invocations").begin_array();
  json.begin_object();
  json.member("executionSuccessful", successful);
  json.key("toolExecutionNotifications").begin_array();
  for (const NotAnalysed& entry : report.not_analysed) {
    std::string text = std::string(before_reason(entry)) + entry.reason;
    if (!entry.function.empty()) text += " in " + entry.function;
    if (!entry.detail.empty()) text += ": " + entry.detail;
    notification(json, "not-analysed", text, entry.file);
  }
  if (!report.watched) {
    const std::string unseen = unseen_calls(report);
    notification(json, "sight", sight(report) + (unseen.empty() ? "" : "; " + unseen), "", "note");
  }
  left_out(json, excess.results, limits.results, "findings of least harm");
  left_out(json, excess.flow_locations, limits.flow_locations, "steps of dtype paths");
  left_out(json, excess.locations, limits.locations, "related locations");
  json.end_array();
  json.end_object();
  json.end_array();
}

}  // namespace dtype_guard::sarif
