// What single roots gave, kept from one analysis to the next while an editor's user types: roots that cannot
// come to a changed file are not evaluated again. What a root gives may hang on other code of the program
// too (who else sets a field, who calls what), so an analysis with kept roots is a first answer, and one
// without has the last word.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/flow/findings/findings.h"
#include "analyzer/flow/settings/analysis_options.h"

namespace dtype_guard::flow {

struct KeptRoot {
  std::vector<CollectedFinding> findings;
  bool is_settled = false;
  bool is_left_out = false;  // for want of work
  bool is_given_up = false;
  std::string problem;               // why
  std::vector<SourceRange> decided;  // see SeenByRoots
  // Functions that were run for it, or for what it shares with others; not known once they are numbered anew.
  std::optional<std::set<std::uint32_t>> ran;
};

class RootMemo {
 public:
  using Roots = std::unordered_map<std::string, KeptRoot>;  // by name_of()
  static std::string name_of(const Module& module, std::uint32_t root);

  // `variant`: what the options say besides the setting and the version of PyTorch.
  Roots& kept(const std::string& variant, const std::string& setting, const std::string& version) {
    return kept_[{variant, setting, version}];
  }
  void note_use() { was_used_ = true; }
  void forget(const std::set<std::string>& roots);  // by name_of()
  void forget_that_ran(const std::vector<std::uint32_t>& functions);
  bool knows_what_ran() const;  // of all
  void forget_what_ran();
  // All roots of the program, which are found once until it is told that the program is another.
  template <typename Find>
  const std::vector<std::uint32_t>& roots(Find find) {
    if (!roots_) roots_ = find();
    return *roots_;
  }
  void forget_program() { roots_.reset(); }
  // Whether an answer since then rests on a root that was kept.
  bool was_used() const { return was_used_; }
  void begin() { was_used_ = false; }

  // Files, as the report names them, that differ from what the fixes that are kept were searched in.
  void note_changed(const std::set<std::string>& files) { changed_.insert(files.begin(), files.end()); }
  void search_fixes(bool searches) { searches_fixes_ = searches; }
  bool searches_fixes() const { return searches_fixes_; }
  // Gives what was offered for findings that are as they were; the others, for which it may be searched now.
  std::vector<Finding*> take_over_fixes(const std::string& variant, std::vector<Finding>& now);
  void keep_fixes(const std::string& variant, const std::vector<Finding>& found);
  // All variants have their fixes, where they were searched.
  void end_search();
  bool lacks_fixes() const { return lacks_fixes_; }  // of some findings none were searched

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Roots> kept_;
  std::optional<std::vector<std::uint32_t>> roots_;
  bool was_used_ = false;
  std::map<std::string, std::vector<Finding>> offered_;  // with their fixes, by variant
  std::set<std::string> changed_;                        // since then
  bool searches_fixes_ = true;
  bool lacks_fixes_ = false;
};

// What a root gives, or gave in an analysis before.
class KeptRoots {
 public:
  KeptRoots(const Module& module, const AnalysisOptions& options)
      : module_(module), options_(options), memo_(options.refusals ? nullptr : options.memo) {}

  void begin(const std::string& setting, const std::string& version) {
    if (memo_) kept_ = &memo_->kept(options_.memo_variant, setting, version);
  }
  template <typename Evaluate>
  KeptRoot of(std::uint32_t root, FindingCollector& collector, Evaluate evaluate) {
    KeptRoot now;
    if (!memo_) {
      evaluate(now);
      return now;
    }
    const std::string& name = name_of(root);
    if (const auto found = kept_->find(name); found != kept_->end()) {
      memo_->note_use();
      const KeptRoot& kept = found->second;
      for (const CollectedFinding& each : kept.findings) collector.add(each);
      return {{}, kept.is_settled, kept.is_left_out, kept.is_given_up, kept.problem, kept.decided, {}};
    }
    collector.keep_in(&now.findings);
    evaluate(now);
    collector.keep_in(nullptr);
    kept_->insert_or_assign(name, now);
    return now;
  }

 private:
  const std::string& name_of(std::uint32_t root) {
    std::string& name = names_[root];
    if (name.empty()) name = RootMemo::name_of(module_, root);
    return name;
  }

  const Module& module_;
  const AnalysisOptions& options_;
  RootMemo* memo_;
  RootMemo::Roots* kept_ = nullptr;
  std::unordered_map<std::uint32_t, std::string> names_;
};

// Takes over the fixes of findings that are as they were, with no place in a changed file; the others.
std::vector<Finding*> take_over_fixes(const std::vector<Finding>& before,
                                      const std::set<std::string>& changed, std::vector<Finding>& now);

}  // namespace dtype_guard::flow
