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
  std::string problem;  // why
};

class RootMemo {
 public:
  // `variant`: what the options say besides the setting and the version of PyTorch.
  using Key =
      std::tuple<std::string, std::string, std::string, std::string>;  // variant, setting, version, root
  static std::string name_of(const Module& module, std::uint32_t root);

  const KeptRoot* find(const Key& key) const;
  void keep(const Key& key, KeptRoot root);
  void forget(const std::set<std::string>& roots);  // by name_of()
  void forget_all();
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

  // The findings of the last analysis with the fixes that were offered, by variant, and the files that have
  // changed since, as the report names them.
  std::map<std::string, std::vector<Finding>> offered;
  std::set<std::string> changed;

 private:
  std::map<Key, KeptRoot> kept_;
  std::optional<std::vector<std::uint32_t>> roots_;
  mutable bool was_used_ = false;
};

// What a root gives, or gave in an analysis before.
class KeptRoots {
 public:
  KeptRoots(const Module& module, const AnalysisOptions& options)
      : module_(module), options_(options), memo_(options.refusals ? nullptr : options.memo) {}

  template <typename Evaluate>
  KeptRoot of(std::uint32_t root, const std::string& setting, const std::string& version,
              FindingCollector& collector, Evaluate evaluate) {
    KeptRoot now;
    if (!memo_) {
      evaluate(now);
      return now;
    }
    const RootMemo::Key key(options_.memo_variant, setting, version, name_of(root));
    if (const KeptRoot* kept = memo_->find(key)) {
      for (const CollectedFinding& each : kept->findings) collector.add(each);
      return {{}, kept->is_settled, kept->is_left_out, kept->is_given_up, kept->problem};
    }
    collector.keep_in(&now.findings);
    evaluate(now);
    collector.keep_in(nullptr);
    memo_->keep(key, now);
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
  std::map<std::uint32_t, std::string> names_;
};

// Takes over the fixes of findings that are as they were, with no place in a changed file; the others.
std::vector<Finding*> take_over_fixes(const std::vector<Finding>& before,
                                      const std::set<std::string>& changed, std::vector<Finding>& now);

}  // namespace dtype_guard::flow
