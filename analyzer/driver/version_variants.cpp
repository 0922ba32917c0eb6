#include "analyzer/driver/version_variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace dtype_guard::driver {

namespace {

// Libraries whose contracts the program's calls can meet.
std::set<std::string> libraries_called(const flow::Module& module, const ContractSet& contracts) {
  std::set<std::string> names;
  for (const flow::Function& function : module.functions) {
    for (const flow::Block& block : function.blocks) {
      for (const flow::Instruction& each : block.instructions) {
        if (each.op == flow::Op::kSink) names.insert(each.name);
      }
    }
  }
  std::set<std::string> libraries;
  for (const Api& api : contracts.apis) {
    if (names.count(api.name)) libraries.insert(api.library);
  }
  return libraries;
}

bool same_defect(const Finding& a, const Finding& b) {
  const auto place = [](const Finding& each) {
    return std::tie(each.rule, each.location.file, each.location.line, each.location.column,
                    each.fingerprint);
  };
  return place(a) == place(b);
}

class Variants {
 public:
  Variants(flow::Module& module, const flow::AnalysisOptions& options, const LibraryVersions& versions,
           const flow::SourceText& text, const std::vector<std::vector<Edit>>& refused)
      : module_(module),
        options_(options),
        contracts_(*options.contracts),
        versions_(versions),
        text_(text),
        refused_(refused) {
    for (const auto& [library, possible] : versions)
      if (!possible.empty()) contracts_.versions[library] = possible.back();
    options_.contracts = &contracts_;
  }

  AnalysedVersions run() {
    AnalysedVersions out = one();
    for (const std::string& library : libraries_called(module_, contracts_)) {
      const auto possible = versions_.find(library);
      if (possible != versions_.end() && possible->second.size() > 1) vary(library, possible->second, out);
    }
    return out;
  }

 private:
  AnalysedVersions one() {
    flow::AnalysisResult analysed = flow::analyse(module_, options_);
    AnalysedVersions out{
        std::move(analysed.findings), std::move(analysed.not_analysed), {}, std::move(analysed.calls)};
    if (text_) out.without_fix = flow::offer_fixes(module_, options_, text_, out.findings, refused_);
    return out;
  }

  // `possible` ends with the version that `out` is of.
  void vary(const std::string& library, const std::vector<std::string>& possible, AnalysedVersions& out) {
    std::vector<std::set<std::string>> held(out.findings.size(), {possible.back()});
    for (std::size_t i = 0; i + 1 < possible.size(); ++i) {
      contracts_.versions[library] = possible[i];
      AnalysedVersions older = one();
      for (Finding& each : older.findings) {
        const auto known = std::find_if(out.findings.begin(), out.findings.end(),
                                        [&](const Finding& other) { return same_defect(each, other); });
        if (known == out.findings.end()) {
          out.findings.push_back(std::move(each));
          held.push_back({possible[i]});
        } else {
          held[static_cast<std::size_t>(known - out.findings.begin())].insert(possible[i]);
        }
      }
      std::move(older.without_fix.begin(), older.without_fix.end(), std::back_inserter(out.without_fix));
    }
    contracts_.versions[library] = possible.back();
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i].size() == possible.size()) continue;
      std::vector<std::string> spans;
      for (const std::string& each : possible) {
        if (held[i].count(each)) spans.push_back(span_of_version(contracts_, library, each));
      }
      out.findings[i].message += fmt::format("; with {} {} only", library, fmt::join(spans, ", "));
    }
  }

  flow::Module& module_;
  flow::AnalysisOptions options_;
  ContractSet contracts_;
  const LibraryVersions& versions_;
  const flow::SourceText& text_;
  const std::vector<std::vector<Edit>>& refused_;
};

}  // namespace

AnalysedVersions analyse_versions(flow::Module& module, const flow::AnalysisOptions& options,
                                  const LibraryVersions& versions, const flow::SourceText& text,
                                  const std::vector<std::vector<Edit>>& refused) {
  return Variants(module, options, versions, text, refused).run();
}

}  // namespace dtype_guard::driver
