#include "analyzer/tidy/check.h"

#include <clang-tidy/ClangTidyDiagnosticConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>
#include <clang/ASTMatchers/ASTMatchers.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "analyzer/tidy/parsed_text.h"
#include "rules/report/suppressions.h"

namespace dtype_guard::tidy {

namespace {

clang::SourceLocation place(const clang::SourceManager& sources, const std::string& root,
                            const std::string& file, int line, int column) {
  if (line < 1 || column < 1) return {};
  const std::string path = (std::filesystem::path(root) / file).string();
  const auto entry = sources.getFileManager().getOptionalFileRef(path);
  if (!entry) return {};
  return sources.translateFileLineCol(*entry, static_cast<unsigned>(line), static_cast<unsigned>(column));
}

}  // namespace

DtypeCheck::DtypeCheck(llvm::StringRef name, clang::tidy::ClangTidyContext* context)
    : ClangTidyCheck(name, context), context_(context), rule_(name.drop_front(std::string(kPrefix).size())) {
  const auto text = [&](llvm::StringRef option) { return Options.getLocalOrGlobal(option, "").str(); };
  settings_.precision = text("DtypePrecision");
  settings_.torch = text("DtypeTorch");
  settings_.device = text("DtypeDevice");
  settings_.contracts = text("DtypeContracts");
  settings_.root = text("DtypeRoot");
  // As a word: what clang-tidy offers for bool is named differently by GCC and by Clang, which built it.
  settings_.strict = text("DtypeStrict");
}

void DtypeCheck::storeOptions(clang::tidy::ClangTidyOptions::OptionMap& options) {
  Options.store(options, "DtypePrecision", settings_.precision);
  Options.store(options, "DtypeTorch", settings_.torch);
  Options.store(options, "DtypeDevice", settings_.device);
  Options.store(options, "DtypeContracts", settings_.contracts);
  Options.store(options, "DtypeRoot", settings_.root);
  Options.store(options, "DtypeStrict", settings_.strict);
}

void DtypeCheck::registerPPCallbacks(const clang::SourceManager&, clang::Preprocessor* preprocessor,
                                     clang::Preprocessor*) {
  preprocessor_ = preprocessor;
}

void DtypeCheck::registerMatchers(clang::ast_matchers::MatchFinder* finder) {
  finder->addMatcher(clang::ast_matchers::translationUnitDecl(), this);
}

// A finding speaks with the first of its rules that is on, as with dtype-lint's --rules.
bool DtypeCheck::take(Finding& finding) const {
  const auto on = [&](const std::string& rule) { return context_->isCheckEnabled(kPrefix + rule); };
  if (on(finding.rule)) return finding.rule == rule_;
  const auto next = std::find_if(finding.also_rules.begin(), finding.also_rules.end(), on);
  if (next == finding.also_rules.end() || *next != rule_) return false;
  finding.rule = rule_;
  finding.also_rules.erase(next);
  return true;
}

// Those that no comment hides. clang-tidy knows a comment only by the one check that speaks, and only in the
// line of the warning.
std::vector<Finding> DtypeCheck::open_findings(const Results& results, clang::SourceManager& sources) const {
  Report report;
  report.root = results.root;
  report.findings = results.findings;
  std::erase_if(report.findings, [&](Finding& each) { return !take(each); });
  ParsedText text(sources, results.root);
  apply_suppressions(report, [&](const std::string& file) {
    const std::string* found = text(file);
    return found ? std::optional(*found) : std::nullopt;
  });
  std::erase_if(report.findings, [&](const Finding& each) { return each.rule != rule_ || !is_open(each); });
  return report.findings;
}

void DtypeCheck::report(const Finding& finding, const std::string& root,
                        const clang::SourceManager& sources) {
  const auto at = [&](const SourceLocation& where) {
    return place(sources, root, where.file, where.line, where.column);
  };
  {
    // What stands in a message is no format.
    auto diagnostic = diag(at(finding.location), "%0") << finding.message;
    for (const Fix& fix : finding.fixes) {
      for (const Edit& edit : fix.edits) {
        const auto range = clang::CharSourceRange::getCharRange(
            at(edit.range),
            place(sources, root, edit.range.file, edit.range.end_line, edit.range.end_column));
        diagnostic << clang::FixItHint::CreateReplacement(range, edit.replacement);
      }
    }
  }
  for (const PathStep& step : finding.path) {
    const std::string note = step.note.empty() ? step.op : step.note;
    diag(at(step.location), "%0", clang::DiagnosticIDs::Note)
        << (step.after.empty() ? note : note + " (" + step.after + ")");
  }
}

void DtypeCheck::check(const clang::ast_matchers::MatchFinder::MatchResult& result) {
  if (!preprocessor_) return;
  const Results& results = results_of(*result.Context, *preprocessor_, settings_);
  if (!results.problem.empty()) {
    configurationDiag("%0") << results.problem;
    return;
  }
  for (const Finding& each : open_findings(results, *result.SourceManager)) {
    report(each, results.root, *result.SourceManager);
  }
}

}  // namespace dtype_guard::tidy
