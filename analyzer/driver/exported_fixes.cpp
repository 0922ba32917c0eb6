#include "analyzer/driver/exported_fixes.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "analyzer/driver/edited_text.h"
#include "rules/text/utf8.h"

namespace dtype_guard::driver {
namespace {

// In single quotes everything stands for itself but the quote, which is doubled, and a line break, which
// would be folded unless an empty line follows. A reader refuses the whole file for a byte that is no UTF-8.
std::string yaml_text(std::string_view text) {
  std::string out = "'";
  for (const char c : valid_utf8(text)) {
    out += c;
    if (c == '\'' || c == '\n') out += c;
  }
  return out + "'";
}

class Export {
 public:
  Export(const Report& report, const flow::SourceText& text) : report_(report), text_(text) {}

  std::string write() {
    std::string main_file;
    for (const Finding& each : report_.findings) {
      if (main_file.empty() && is_open(each)) main_file = absolute(each.location.file);
    }
    out_ = fmt::format("---\nMainSourceFile:  {}\nDiagnostics:\n", yaml_text(main_file));
    if (main_file.empty()) out_ = "---\nMainSourceFile:  ''\nDiagnostics:     []\n";
    for (const Finding& each : report_.findings) {
      if (is_open(each)) diagnostic(each);
    }
    return out_ + "...\n";
  }

 private:
  std::string absolute(const std::string& file) const {
    return (std::filesystem::path(report_.root) / file).lexically_normal().string();
  }

  void diagnostic(const Finding& finding) {
    out_ +=
        fmt::format("  - DiagnosticName:  {}\n    DiagnosticMessage:\n", yaml_text("dtype-" + finding.rule));
    message("      ", finding.message, finding.location);
    replacements(finding);
    if (!finding.path.empty()) out_ += "    Notes:\n";
    for (const PathStep& step : finding.path) {
      std::string note = step.note.empty() ? step.op : step.note;
      if (!step.after.empty()) note += " (" + step.after + ")";
      out_ += fmt::format("      - Message:         {}\n", yaml_text(note));
      place("        ", step.location);
      out_ += "        Replacements:    []\n";
    }
    const bool error = finding.level == Level::kError;
    out_ += fmt::format("    Level:           {}\n    BuildDirectory:  {}\n", error ? "Error" : "Warning",
                        yaml_text(report_.root));
  }

  void message(const std::string& margin, const std::string& what, const SourceLocation& where) {
    out_ += fmt::format("{}Message:         {}\n", margin, yaml_text(what));
    place(margin, where);
  }

  void place(const std::string& margin, const SourceLocation& where) {
    const std::string* text = text_(where.file);
    const auto offset = text ? flow::offset_of(*text, where.line, where.column) : std::nullopt;
    out_ += fmt::format("{0}FilePath:        {1}\n{0}FileOffset:      {2}\n", margin,
                        yaml_text(absolute(where.file)), offset.value_or(0));
  }

  // An edit that cures several findings is made once: clang-apply-replacements would insert it as often as it
  // stands here.
  void replacements(const Finding& finding) {
    std::string list;
    for (const Fix& fix : finding.fixes) {
      for (const Edit& edit : fix.edits) {
        const std::string* text = text_(edit.range.file);
        for (const ByteEdit& each : text ? byte_edits(*text, edit) : std::vector<ByteEdit>()) {
          if (!written_.emplace(edit.range.file, each).second) continue;
          list += fmt::format(
              "        - FilePath:        {}\n          Offset:          {}\n          Length:          {}\n"
              "          ReplacementText: {}\n",
              yaml_text(absolute(edit.range.file)), each.begin, each.end - each.begin,
              yaml_text(each.replacement));
        }
      }
    }
    out_ += list.empty() ? "      Replacements:    []\n" : "      Replacements:\n" + list;
  }

  const Report& report_;
  const flow::SourceText& text_;
  std::string out_;
  std::set<std::pair<std::string, ByteEdit>> written_;
};

}  // namespace

std::string exported_fixes(const Report& report, const flow::SourceText& text) {
  return Export(report, text).write();
}

}  // namespace dtype_guard::driver
