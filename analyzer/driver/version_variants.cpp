#include "analyzer/driver/version_variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/flow/kept_groups.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/root_memo.h"
#include "analyzer/flow/threaded_analysis.h"
#include "analyzer/flow/workers.h"

namespace dtype_guard::driver {

namespace {

std::set<std::string> apis_called(const flow::Function& function) {
  std::set<std::string> names;
  for (const flow::Block& block : function.blocks) {
    for (const flow::Instruction& each : block.instructions) {
      if (each.op == flow::Op::kSink) names.insert(each.name);
    }
  }
  return names;
}

// By function; of those that call some.
std::map<std::uint32_t, std::set<std::string>> apis_called(const flow::Module& module) {
  std::map<std::uint32_t, std::set<std::string>> out;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    std::set<std::string> names = apis_called(module.functions[i]);
    if (!names.empty()) out.emplace_hint(out.end(), i, std::move(names));
  }
  return out;
}

// Libraries whose contracts the program's calls can meet.
std::set<std::string> libraries_called(const std::set<std::string>& names, const ContractSet& contracts) {
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
  Variants(flow::Module& module, const flow::Program& program, const flow::AnalysisOptions& options,
           const LibraryVersions& versions, const flow::SourceText& text,
           const std::vector<std::vector<Edit>>& refused, unsigned jobs, flow::KeptGroups* kept)
      : module_(module),
        program_(program),
        options_(options),
        contracts_(newest_contracts(*options.contracts, versions)),
        versions_(versions),
        text_(text),
        refused_(refused),
        kept_(kept),
        workers_(program, options.memo ? 1 : jobs, kept) {
    options_.contracts = &contracts_;
  }

  AnalysedVersions run() {
    AnalysedVersions out = one();
    for (const std::string& library : libraries_called(all_apis_called(), contracts_)) {
      const auto possible = versions_.find(library);
      if (possible != versions_.end() && possible->second.size() > 1) vary(library, possible->second, out);
    }
    return out;
  }

 private:
  // By all roots, or by those alone that may come to a call of one library: another version of it changes
  // nothing for the others.
  AnalysedVersions one(const std::string& library = "") {
    flow::AnalysisResult analysed = evaluated(functions_that_call(library));
    AnalysedVersions out{std::move(analysed.findings), std::move(analysed.not_analysed), {},
                         std::move(analysed.calls),    std::move(analysed.unseen),       analysed.left_out};
    if (text_ && options_.memo) {
      search_fixes_of_new(out);
    } else if (text_) {
      out.without_fix = flow::offer_fixes(module_, program_, options_, text_, out.findings, refused_);
    }
    return out;
  }

  // Of findings that are as they were, the fixes are.
  void search_fixes_of_new(AnalysedVersions& out) {
    flow::RootMemo& memo = *options_.memo;
    const std::vector<Finding*> others = memo.take_over_fixes(options_.memo_variant, out.findings);
    if (!memo.searches_fixes()) return;
    std::vector<Finding> searched;
    for (const Finding* each : others) searched.push_back(*each);
    out.without_fix = flow::offer_fixes(module_, program_, options_, text_, searched, refused_);
    for (std::size_t i = 0; i < others.size(); ++i) *others[i] = std::move(searched[i]);
    memo.keep_fixes(options_.memo_variant, out.findings);
  }

  // `possible` ends with the version that `out` is of.
  void vary(const std::string& library, const std::vector<std::string>& possible, AnalysedVersions& out) {
    const std::set<std::string> names = all_apis_called();
    const std::vector<const Api*> newest = meaning(names, library, possible.back());
    std::vector<bool> is_like_newest;
    for (const std::string& each : possible)
      is_like_newest.push_back(meaning(names, library, each) == newest);
    contracts_.versions[library] = possible.back();
    // What this program calls may be the same in all of them.
    if (std::find(is_like_newest.begin(), is_like_newest.end(), false) == is_like_newest.end()) return;
    options_.work_budget = work_budget_ / kPartOfOther;
    std::vector<std::set<std::string>> held = held_by_all(library, possible, out);
    const std::size_t of_newest = held.size();
    for (std::size_t i = 0; i + 1 < possible.size(); ++i) {
      if (is_like_newest[i]) {
        for (std::size_t at = 0; at < of_newest; ++at) held[at].insert(possible[i]);
        continue;
      }
      contracts_.versions[library] = possible[i];
      options_.memo_variant = library + " " + possible[i];
      AnalysedVersions older = one(library);
      options_.memo_variant.clear();
      // What was not looked at in all of the program is not known to be gone.
      if (older.left_out) {
        for (std::size_t at = 0; at < of_newest; ++at) held[at].insert(possible[i]);
        for (flow::NotLowered& each : older.not_analysed) {
          each.reason += fmt::format(", with {} {}", library, possible[i]);
          out.not_analysed.push_back(std::move(each));
        }
      }
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
    options_.work_budget = work_budget_;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i].size() == possible.size()) continue;
      std::vector<std::string> spans;
      for (const std::string& each : possible) {
        if (held[i].count(each)) spans.push_back(span_of_version(contracts_, library, each));
      }
      out.findings[i].message += fmt::format("; with {} {} only", library, fmt::join(spans, ", "));
    }
  }

  std::set<std::string> all_apis_called() const {
    std::set<std::string> names;
    for (const auto& [function, called] : apis_called_) names.insert(called.begin(), called.end());
    return names;
  }

  // The contracts that these names have with a version of a library.
  std::vector<const Api*> meaning(const std::set<std::string>& names, const std::string& library,
                                  const std::string& version) {
    contracts_.versions[library] = version;
    std::vector<const Api*> out;
    for (const std::string& torch : options_.torch_versions) {
      for (const std::string& each : names) out.push_back(contracts_.named(each, torch, options_.device));
    }
    return out;
  }

  // The versions in which each finding is known to hold before others than the last are tried: all, where no
  // root that may come to the library has it.
  std::vector<std::set<std::string>> held_by_all(const std::string& library,
                                                 const std::vector<std::string>& possible,
                                                 const AnalysedVersions& out) {
    std::vector<std::set<std::string>> held;
    if (out.findings.empty()) return held;
    options_.memo_variant = library + " " + possible.back();
    const AnalysedVersions last = one(library);
    options_.memo_variant.clear();
    for (const Finding& each : out.findings) {
      const bool meets = std::any_of(last.findings.begin(), last.findings.end(),
                                     [&](const Finding& other) { return same_defect(each, other); });
      held.push_back(meets ? std::set<std::string>{possible.back()}
                           : std::set<std::string>(possible.begin(), possible.end()));
    }
    return held;
  }

  flow::AnalysisResult evaluated(const std::vector<std::uint32_t>& through) {
    const auto find = [&] { return flow::roots_to_analyse(program_); };
    if (kept_) kept_->note_places(module_);
    const std::vector<std::uint32_t> all = options_.memo ? options_.memo->roots(find) : find();
    return flow::analyse(program_, flow::roots_through(program_, all, through), options_, workers_);
  }

  std::vector<std::uint32_t> functions_that_call(const std::string& library) const {
    std::set<std::string> names;
    for (const Api& api : contracts_.apis) {
      if (api.library == library) names.insert(api.name);
    }
    std::vector<std::uint32_t> out;
    for (const auto& [function, called] : apis_called_) {
      const bool meets = std::any_of(called.begin(), called.end(),
                                     [&](const std::string& each) { return names.contains(each); });
      if (meets) out.push_back(function);
    }
    return out;
  }

  static constexpr std::size_t kPartOfOther = 4;  // of the work, for another version

  flow::Module& module_;
  const flow::Program& program_;
  flow::AnalysisOptions options_;
  const std::size_t work_budget_ = options_.work_budget;
  ContractSet contracts_;
  const LibraryVersions& versions_;
  const flow::SourceText& text_;
  const std::vector<std::vector<Edit>>& refused_;
  flow::KeptGroups* const kept_;
  flow::Workers workers_;
  const std::map<std::uint32_t, std::set<std::string>> apis_called_ = apis_called(module_);
};

}  // namespace

ContractSet newest_contracts(const ContractSet& contracts, const LibraryVersions& versions) {
  ContractSet out = contracts;
  for (const auto& [library, possible] : versions)
    if (!possible.empty()) out.versions[library] = possible.back();
  return out;
}

AnalysedVersions analyse_versions(flow::Module& module, const flow::Program& program,
                                  const flow::AnalysisOptions& options, const LibraryVersions& versions,
                                  const flow::SourceText& text, const std::vector<std::vector<Edit>>& refused,
                                  unsigned jobs, flow::KeptGroups* kept) {
  return Variants(module, program, options, versions, text, refused, jobs, kept).run();
}

}  // namespace dtype_guard::driver
