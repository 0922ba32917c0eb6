// One rule as a check of clang-tidy.
#pragma once

#include <clang-tidy/ClangTidyCheck.h>

#include <string>
#include <vector>

#include "analyzer/tidy/results.h"

namespace dtype_guard::tidy {

inline constexpr const char* kPrefix = "dtype-";

class DtypeCheck : public clang::tidy::ClangTidyCheck {
 public:
  DtypeCheck(llvm::StringRef name, clang::tidy::ClangTidyContext* context);

  bool isLanguageVersionSupported(const clang::LangOptions& language) const override {
    return language.CPlusPlus;
  }
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap& options) override;
  void registerPPCallbacks(const clang::SourceManager& sources, clang::Preprocessor* preprocessor,
                           clang::Preprocessor* expander) override;
  void registerMatchers(clang::ast_matchers::MatchFinder* finder) override;
  void onStartOfTranslationUnit() override { forget_results(); }
  void check(const clang::ast_matchers::MatchFinder::MatchResult& result) override;

 private:
  bool take(Finding& finding) const;
  std::vector<Finding> open_findings(const Results& results, clang::SourceManager& sources) const;
  void report(const Finding& finding, const std::string& root, const clang::SourceManager& sources);

  clang::tidy::ClangTidyContext* context_;
  std::string rule_;
  Settings settings_;
  clang::Preprocessor* preprocessor_ = nullptr;
};

}  // namespace dtype_guard::tidy
