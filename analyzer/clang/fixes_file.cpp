#include "analyzer/clang/fixes_file.h"

#include <clang/Tooling/Core/Diagnostic.h>
#include <clang/Tooling/DiagnosticsYaml.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

#include <utility>

namespace dtype_guard::clang_front_end {
namespace {

clang::tooling::DiagnosticMessage message(const FixesFile::Note& note) {
  clang::tooling::DiagnosticMessage out(note.message);
  out.FilePath = note.at.file;
  out.FileOffset = static_cast<unsigned>(note.at.offset);
  return out;
}

// add() refuses a second insertion at one place, whose order matters: it comes behind the first.
void add(clang::tooling::Replacements& all, const FixesFile::Replacement& given) {
  const auto replacement = [&](unsigned offset) {
    return clang::tooling::Replacement(given.at.file, offset, static_cast<unsigned>(given.length),
                                       given.text);
  };
  const auto offset = static_cast<unsigned>(given.at.offset);
  if (llvm::Error refused = all.add(replacement(offset))) {
    llvm::consumeError(std::move(refused));
    all = all.merge(clang::tooling::Replacements(replacement(all.getShiftedCodePosition(offset))));
  }
}

clang::tooling::Diagnostic diagnostic(const FixesFile::Diagnostic& given, const std::string& directory) {
  clang::tooling::DiagnosticMessage said = message(given.said);
  for (const FixesFile::Replacement& each : given.replacements) add(said.Fix[each.at.file], each);
  llvm::SmallVector<clang::tooling::DiagnosticMessage, 1> notes;
  for (const FixesFile::Note& each : given.notes) notes.push_back(message(each));
  using Level = clang::tooling::Diagnostic::Level;
  return {given.name, said, notes, given.is_error ? Level::Error : Level::Warning, directory};
}

}  // namespace

std::string yaml_of(const FixesFile& file) {
  clang::tooling::TranslationUnitDiagnostics all;
  all.MainSourceFile = file.main_file;
  for (const FixesFile::Diagnostic& each : file.diagnostics) {
    all.Diagnostics.push_back(diagnostic(each, file.build_directory));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::yaml::Output yaml(stream);
  yaml << all;
  return text;
}

}  // namespace dtype_guard::clang_front_end
