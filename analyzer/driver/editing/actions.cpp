#include "analyzer/driver/editing/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "rules/catalog/catalog.h"
#include "rules/files/input_file.h"
#include "rules/report/suppressions.h"

namespace dtype_guard::driver {

namespace {

using lsp::Json;

constexpr std::string_view kQuickFix = "quickfix";
constexpr std::string_view kFixAll = "source.fixAll.dtypeLint";

// By lines: the cursor need not stand in the expression.
bool overlap(const lsp::Range& a, const lsp::Range& b) {
  return a.start.line <= b.end.line && b.start.line <= a.end.line;
}

// "source" asks for all that begin with it.
bool wants(const Json& context, std::string_view kind) {
  const Json& only = lsp::at(context, "only");
  if (!only.is_array()) return true;
  return std::any_of(only.begin(), only.end(), [&](const Json& each) {
    if (!each.is_string()) return false;
    const std::string asked = each.get<std::string>();
    return asked.empty() || kind == asked || kind.starts_with(asked + ".");
  });
}

// The client's own diagnostics that an action is for.
std::vector<Json> shown_for(const Finding& finding, const lsp::Range& range, const Json& context) {
  std::vector<Json> out;
  for (const Json& each : lsp::list_at(context, "diagnostics")) {
    const std::optional<lsp::Range> at = lsp::read_range(lsp::at(each, "range"));
    if (at && *at == range && lsp::text_at(each, "code") == finding.rule) out.push_back(each);
  }
  return out;
}

std::string comment_for(const std::string& path, const std::string& rule) {
  return source::is_python(path) ? fmt::format("  # dtype-lint: ignore[{}]", rule)
                                 : fmt::format("  // NOLINT(dtype-{})", rule);
}

}  // namespace

bool Actions::is_older(const std::string& path) {
  const auto open = edited_.find(path);
  return open != edited_.end() && project_.is_of_disk(path) && read_input(path).text != open->second.text;
}

Actions::Bytes Actions::bytes_of(const Fix& fix) {
  Bytes out;
  for (const Edit& edit : fix.edits) {
    const std::string path = absolute_path(project_.root(), edit.range.file);
    const std::string* text = texts_.text(path);
    const std::vector<ByteEdit> bytes =
        text && !is_older(path) ? byte_edits(*text, edit) : std::vector<ByteEdit>();
    if (bytes.empty()) return {};
    out[path].insert(out[path].end(), bytes.begin(), bytes.end());
  }
  return out;
}

Json Actions::workspace_edit(const Bytes& bytes) {
  Json changes = Json::object(), document_changes = Json::array();
  for (const auto& [path, list] : bytes) {
    std::vector<ByteEdit> sorted = list;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    Json edits = Json::array();
    for (const ByteEdit& each : sorted) {
      const lsp::Range range{texts_.position(path, each.begin), texts_.position(path, each.end)};
      edits.push_back({{"range", lsp::to_json(range)}, {"newText", each.replacement}});
    }
    const auto open = edited_.find(path);
    Json document = {{"uri", texts_.uri(path)}, {"version", nullptr}};
    if (open != edited_.end()) document["version"] = open->second.version;
    document_changes.push_back({{"textDocument", std::move(document)}, {"edits", edits}});
    changes[texts_.uri(path)] = std::move(edits);
  }
  if (view_.document_changes) return {{"documentChanges", std::move(document_changes)}};
  return {{"changes", std::move(changes)}};
}

void Actions::add_fixes(const Finding& finding, const std::vector<Json>& shown, Json& out) {
  for (const Fix& fix : finding.fixes) {
    const Bytes bytes = bytes_of(fix);
    if (bytes.empty()) continue;
    Json action = {
        {"title", fix.title}, {"kind", kQuickFix}, {"diagnostics", shown}, {"edit", workspace_edit(bytes)}};
    if (view_.preferred) action["isPreferred"] = &fix == finding.fixes.data() && fix.verified;
    out.push_back(std::move(action));
  }
}

// Behind the line, where a comment can stand and is read as one. The reason is the user's to add, and a note
// asks for it.
void Actions::add_comment(const Finding& finding, const std::vector<Json>& shown, Json& out) {
  const std::string path = absolute_path(project_.root(), finding.location.file);
  if (is_notebook(path)) return;  // a line of its file is no line of Python
  const std::string* text = texts_.text(path);
  if (!text || is_older(path) || finding.location.line < 1 || find_rule(finding.rule) == nullptr) return;
  const lsp::Lines lines(*text);
  const auto number = static_cast<std::size_t>(finding.location.line) - 1;
  if (number >= lines.count()) return;
  const std::string_view line = lines.line(number);
  const std::size_t used = line.find_last_not_of(" \t");
  if (used == std::string_view::npos || line[used] == '\\') return;  // the next line goes on with it
  const std::size_t end = lines.start(number) + used + 1;
  const std::string comment = comment_for(path, finding.rule);
  const std::string with = text->substr(0, end) + comment + text->substr(end);
  const std::vector<SuppressionComment> read = suppression_comments(path, with);
  const bool holds = std::any_of(read.begin(), read.end(), [&](const SuppressionComment& each) {
    return each.line == finding.location.line && each.first <= each.line && each.line <= each.last &&
           std::find(each.rules.begin(), each.rules.end(), finding.rule) != each.rules.end();
  });
  if (!holds) return;
  out.push_back({{"title", fmt::format("Accept {} here with a comment", finding.rule)},
                 {"kind", kQuickFix},
                 {"diagnostics", shown},
                 {"edit", workspace_edit({{path, {{end, end, comment}}}})}});
}

// Whether the texts with these edits have that many findings less and none more.
bool Actions::cures(const Bytes& bytes, std::size_t fixed) {
  EditedTexts edited = edited_;
  for (const auto& [path, edits] : bytes) {
    const std::string* text = texts_.text(path);
    if (!text || !source::is_python(path)) return false;
    EditedText& now = edited[path];
    now.text = edited_text(*text, edits);
    now.hash = std::hash<std::string>()(now.text);
  }
  using Key = std::tuple<std::string, int, std::string>;
  std::map<Key, int> left;
  const auto key = [](const Finding& each) { return Key(each.location.file, each.location.line, each.rule); };
  std::size_t before = 0, after = 0;
  for (const Finding& each : project_.last_report().findings) {
    if (!is_open(each) || each.level == Level::kNote) continue;
    ++left[key(each)];
    ++before;
  }
  for (const Finding& each : project_.tried(edited, step_).findings) {
    if (!is_open(each) || each.level == Level::kNote) continue;
    if (--left[key(each)] < 0) return false;
    ++after;
  }
  return after + fixed <= before;
}

// Those of the file's findings that go together; together they are tried on the text.
Actions::Bytes Actions::all_fixes(const std::string& path) {
  std::vector<Bytes> taken;
  const auto joined = [](const std::vector<Bytes>& list) {
    Bytes out;
    for (const Bytes& each : list) {
      for (const auto& [file, edits] : each) out[file].insert(out[file].end(), edits.begin(), edits.end());
    }
    return out;
  };
  for (const Finding& each : project_.last_report().findings) {
    if (!is_open(each) || each.fixes.empty() || !each.fixes.front().verified) continue;
    if (absolute_path(project_.root(), each.location.file) != path) continue;
    const Bytes own = bytes_of(each.fixes.front());
    const bool fits = !own.empty() && std::all_of(taken.begin(), taken.end(), [&](const Bytes& other) {
      return std::all_of(own.begin(), own.end(), [&](const auto& edits) {
        const auto same = other.find(edits.first);
        return same == other.end() || compatible(same->second, edits.second);
      });
    });
    if (fits) taken.push_back(own);
  }
  if (taken.empty()) return {};
  if (cures(joined(taken), taken.size())) return joined(taken);
  constexpr std::size_t kTriedOneByOne = 8;
  std::vector<Bytes> accepted;
  for (std::size_t i = 0; i < taken.size() && i < kTriedOneByOne; ++i) {
    accepted.push_back(taken[i]);
    if (!cures(joined(accepted), accepted.size())) accepted.pop_back();
  }
  return joined(accepted);
}

void Actions::add_all(const std::string& path, const std::string& kind, Json& out) {
  const Bytes bytes = all_fixes(path);
  if (bytes.empty()) return;
  out.push_back({{"title", "Fix all that dtype-lint can fix in this file"},
                 {"kind", kind},
                 {"edit", workspace_edit(bytes)}});
}

Json Actions::in(const std::string& path, const lsp::Range& range, const Json& context) {
  Json out = Json::array();
  std::size_t fixable = 0;
  bool has_fix_here = false;
  for (const Finding& each : project_.last_report().findings) {
    if (!is_open(each) || absolute_path(project_.root(), each.location.file) != path) continue;
    fixable += each.fixes.empty() ? 0 : 1;
    const lsp::Range at = texts_.range(path, each.location);
    if (!wants(context, kQuickFix) || !overlap(at, range)) continue;
    const std::vector<Json> shown = shown_for(each, at, context);
    has_fix_here = has_fix_here || !each.fixes.empty();
    add_fixes(each, shown, out);
    add_comment(each, shown, out);
  }
  const Json& only = lsp::at(context, "only");
  if (only.is_array() && fixable > 0 && wants(context, kFixAll)) add_all(path, std::string(kFixAll), out);
  if (!only.is_array() && has_fix_here && fixable > 1) add_all(path, std::string(kQuickFix), out);
  return out;
}

}  // namespace dtype_guard::driver
