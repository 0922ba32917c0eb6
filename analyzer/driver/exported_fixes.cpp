#include "analyzer/driver/exported_fixes.h"

#include <filesystem>
#include <set>
#include <utility>

#include "analyzer/driver/edited_text.h"
#include "rules/text/utf8.h"

namespace dtype_guard::driver {
namespace {

using clang_front_end::FixesFile;

class Export {
 public:
  Export(const Report& report, const flow::SourceText& text) : report_(report), text_(text) {}

  FixesFile all() {
    FixesFile out;
    out.build_directory = valid_utf8(report_.root);
    for (const Finding& each : report_.findings) {
      if (!is_open(each)) continue;
      if (out.main_file.empty()) out.main_file = absolute(each.location.file);
      out.diagnostics.push_back(diagnostic(each));
    }
    return out;
  }

 private:
  // A reader refuses the whole file for a byte that is no UTF-8.
  std::string absolute(const std::string& file) const {
    return valid_utf8((std::filesystem::path(report_.root) / file).lexically_normal().string());
  }

  FixesFile::Diagnostic diagnostic(const Finding& finding) {
    FixesFile::Diagnostic out;
    out.name = "dtype-" + finding.rule;
    out.said = note(finding.message, finding.location);
    out.is_error = finding.level == Level::kError;
    for (const PathStep& step : finding.path) {
      std::string said = step.note.empty() ? step.op : step.note;
      if (!step.after.empty()) said += " (" + step.after + ")";
      out.notes.push_back(note(said, step.location));
    }
    for (const Fix& fix : finding.fixes) {
      for (const Edit& edit : fix.edits) add(edit, out.replacements);
    }
    return out;
  }

  FixesFile::Note note(const std::string& message, const SourceLocation& where) const {
    const std::string* text = text_(where.file);
    const auto offset = text ? flow::offset_of(*text, where.line, where.column) : std::nullopt;
    return {valid_utf8(message), {absolute(where.file), offset.value_or(0)}};
  }

  // An edit that cures several findings is made once: clang-apply-replacements would insert it as often as it
  // stands here.
  void add(const Edit& edit, std::vector<FixesFile::Replacement>& replacements) {
    const std::string* text = text_(edit.range.file);
    for (const ByteEdit& each : text ? byte_edits(*text, edit) : std::vector<ByteEdit>()) {
      if (!written_.emplace(edit.range.file, each).second) continue;
      replacements.push_back(
          {{absolute(edit.range.file), each.begin}, each.end - each.begin, valid_utf8(each.replacement)});
    }
  }

  const Report& report_;
  const flow::SourceText& text_;
  std::set<std::pair<std::string, ByteEdit>> written_;
};

}  // namespace

FixesFile exported_fixes(const Report& report, const flow::SourceText& text) {
  return Export(report, text).all();
}

}  // namespace dtype_guard::driver
