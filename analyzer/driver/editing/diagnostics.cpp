#include "analyzer/driver/editing/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/report/suppressions.h"

namespace dtype_guard::driver {

namespace {

using lsp::Json;

constexpr int kError = 1, kWarning = 2, kInformation = 3;  // DiagnosticSeverity
constexpr int kUnnecessary = 1;                            // DiagnosticTag
constexpr std::size_t kMostRelated = 100;

int severity(Level level) {
  return level == Level::kError ? kError : level == Level::kWarning ? kWarning : kInformation;
}

std::string step_text(const PathStep& step) {
  std::string text = step.note.empty() ? step.op : step.note;
  if (!step.before.empty() && !step.after.empty() && step.before != step.after) {
    text += fmt::format(" ({} -> {})", step.before, step.after);
  } else if (!step.after.empty()) {
    text += fmt::format(" ({})", step.after);
  }
  return text;
}

// The path's last step is the call itself: said once.
bool ends_at(const std::vector<PathStep>& path, const Sink& sink) {
  if (path.empty()) return false;
  const SourceLocation& last = path.back().location;
  const SourceLocation& call = sink.location;
  return last.file == call.file && last.line == call.line && last.column == call.column;
}

}  // namespace

std::string absolute_path(const std::string& root, const std::string& report_name) {
  return report_name.starts_with('/') ? report_name : root + "/" + report_name;
}

ClientView read_view(const Json& setup) {
  ClientView out;
  out.encoding = lsp::text_at(setup, "encoding") == "utf-8" ? lsp::Encoding::kUtf8 : lsp::Encoding::kUtf16;
  out.related_information = lsp::is_true_at(setup, "relatedInformation");
  out.code_description = lsp::is_true_at(setup, "codeDescription");
  out.data = lsp::is_true_at(setup, "data");
  out.tags = lsp::is_true_at(setup, "tags");
  out.preferred = lsp::is_true_at(setup, "preferred");
  out.document_changes = lsp::is_true_at(setup, "documentChanges");
  out.markdown = lsp::is_true_at(setup, "markdown");
  out.links = lsp::is_true_at(setup, "links");
  return out;
}

Json Diagnostics::related(const Finding& finding, const std::string& root) {
  Json out = Json::array();
  const auto add = [&](const SourceLocation& at, const std::string& text) {
    if (at.file.empty() || at.line < 1 || out.size() >= kMostRelated) return;
    const std::string path = absolute_path(root, at.file);
    Json place = {{"uri", texts_.uri(path)}, {"range", lsp::to_json(texts_.range(path, at))}};
    out.push_back({{"location", std::move(place)}, {"message", text}});
  };
  for (const PathStep& each : finding.path) add(each.location, step_text(each));
  for (const Sink& each : finding.sinks) {
    if (!ends_at(finding.path, each))
      add(each.location, fmt::format("reaches {} as {} here", each.api, each.role));
  }
  return out;
}

Json Diagnostics::of(const Finding& finding, const std::string& root) {
  const std::string path = absolute_path(root, finding.location.file);
  const bool possible = finding.certainty == Certainty::kPossible;
  Json out = {{"range", lsp::to_json(texts_.range(path, finding.location))},
              {"severity", severity(finding.level)},
              {"code", finding.rule},
              {"source", "dtype-lint"},
              {"message", (possible ? "possibly: " : "") + finding.message}};
  if (view_.code_description) {
    if (const std::string& link = pages_.link(finding.rule); !link.empty())
      out["codeDescription"] = {{"href", link}};
  }
  if (view_.tags && finding.rule == kStaleRule) out["tags"] = Json::array({kUnnecessary});
  if (view_.related_information) {
    if (Json way = related(finding, root); !way.empty()) out["relatedInformation"] = std::move(way);
  }
  if (view_.data)
    out["data"] = {
        {"fingerprint", finding.fingerprint}, {"api", finding.api}, {"precision", finding.precision}};
  return out;
}

Json Diagnostics::of(const FileSummary& summary, const std::string& root) {
  const std::string path = absolute_path(root, summary.source);
  SourceLocation place;
  place.line = 1;
  std::string code = "parse-error", text;
  if (summary.outcome != FileSummary::Outcome::kRead) {
    const bool crashed = summary.outcome == FileSummary::Outcome::kCrashed;
    code = crashed ? "crash" : "timeout";
    text = crashed ? "the analysis of this file crashed; it is left out until it changes"
                   : "the analysis of this file took too long; it is left out until it changes";
  } else {
    const source::SourceError& first = summary.errors.front();
    const bool is_here = first.file == summary.source;
    if (is_here) {
      place.line = first.line;
      place.column = first.column;
    }
    text = is_here ? first.message : fmt::format("{}:{}: {}", first.file, first.line, first.message);
    text = "not analysed to its end: " + text;
  }
  // A file that took the analysis down is not opened again for its place.
  const bool is_read = summary.outcome == FileSummary::Outcome::kRead;
  const lsp::Range range = is_read ? texts_.range(path, place) : lsp::Range{{0, 0}, {0, 1}};
  return {{"range", lsp::to_json(range)},
          {"severity", kWarning},
          {"code", code},
          {"source", "dtype-lint"},
          {"message", text}};
}

std::map<std::string, Json> Diagnostics::of(const Report& report, const std::vector<FileSummary>& summaries) {
  std::map<std::string, Json> out;
  for (const Finding& each : report.findings) {
    if (!is_open(each)) continue;
    Json& list = out.try_emplace(absolute_path(report.root, each.location.file), Json::array()).first->second;
    list.push_back(of(each, report.root));
  }
  for (const FileSummary& each : summaries) {
    if (!each.failed()) continue;
    Json& list = out.try_emplace(absolute_path(report.root, each.source), Json::array()).first->second;
    Json made = of(each, report.root);
    if (std::find(list.begin(), list.end(), made) == list.end()) list.push_back(std::move(made));
  }
  return out;
}

}  // namespace dtype_guard::driver
