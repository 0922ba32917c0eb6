// Whether edits cure a finding: the edited IR is evaluated in every precision setting, from the roots that
// may run what was edited, and compared with what the same roots say without the edits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/edits/cast_edit.h"
#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

class FixTrial {
 public:
  // `unedited` is of that module.
  FixTrial(Module& module, const Program& unedited, const AnalysisOptions& options);
  // Each finding has the same budget, whatever the trials for others took, until all of them took too much.
  void begin(const Finding& finding);
  // The finding is gone, no operand of any call breaks its contract that did not before or gets a dtype that
  // its call does not take, nothing is cast to what cannot hold it, and nothing more was given up.
  bool cures(const std::vector<CastEdit>& edits);
  // The limit to which the last answer no is owed; empty: none, the edits do not cure.
  const std::string& limit() const { return limit_; }
  // Else the first of what the edits leave undone or break: under which setting, from which root, which
  // operand.
  const std::string& objection() const { return objection_; }

 private:
  using Functions = std::vector<std::uint32_t>;
  using Roots = std::vector<std::uint32_t>;
  // A place with a finding, and an operand of a call with one.
  using Key = std::tuple<std::string, int, int, std::string, std::string>;
  using Refused = std::tuple<Key, std::uint32_t, Dtype>;  // which root it comes from, and as what
  struct Verdict {
    std::set<Key> places;
    std::set<Key> operands;
    std::set<Refused> refused;
    std::size_t given_up = 0;
    std::size_t steps = 0;
    bool tells_half_types_apart = false;
    void add(const Verdict& more);  // of other roots
  };
  struct Setting {
    PrecisionSetting what;
    bool named = false;  // by the user
    // Autocast decides what its operators give and not what the function is handed, which may be float32.
    bool handed_float = false;
  };
  using Verdicts = std::vector<std::optional<Verdict>>;  // by setting; nothing: not judged
  // Without the edits, of roots of one class.
  struct Before {
    Verdicts verdicts;
    std::size_t spent = 0;  // steps
    bool takes_too_much = false;
  };
  // Of functions that are edited: the roots that may run them, by class, and what these give without.
  struct Edited {
    std::vector<Roots> groups;
    Verdicts verdicts;
  };
  // Edits, and what was found with them in each setting that was tried.
  struct Tried {
    std::vector<CastEdit> edits;
    Verdicts after;
    std::size_t roots = 0;
  };
  // Nothing when the budget is used up.
  std::optional<Verdict> judge(const Program& program, const std::vector<std::uint32_t>& roots,
                               const Setting& setting, std::size_t& spent);
  // Null when that takes more than the budget of a finding.
  const Verdict* verdict_before(const Functions& functions, std::size_t setting);
  const Verdict* verdict_before(Before& before, const Roots& roots, std::size_t setting);
  std::optional<Verdict> as_under_twin(const Verdicts& known, std::size_t setting) const;
  std::vector<Roots> by_class(const Roots& roots) const;
  static bool loses_nothing(const Refused& refused, const Verdict& after);
  std::vector<std::size_t> in_order() const;  // settings
  Key place() const;                          // of the finding
  std::size_t left_for_all() const;           // steps
  // Whether it is there still where it is seen with the least work.
  bool stays(const Program& program, const Roots& roots, std::size_t setting);
  bool is_gone(const Verdict& after, const Setting& setting);
  static std::string broken(const Key& operand);
  bool is_cured(const Verdict& before, const Verdict& after, const Setting& setting);
  bool does_not_know(const Refused& refused, const Verdict& after);
  bool is_found_from_others(const std::vector<std::uint32_t>& functions);
  std::size_t settings_to_see(const Functions& functions, const std::vector<std::size_t>& order);
  bool is_cured_in(std::span<const std::size_t> settings, const Functions& functions, Tried& tried);
  bool takes_too_much(std::size_t steps);  // false, for both
  bool takes_too_long();
  bool object(const Setting& setting, std::string what);  // false
  std::string refused_operand(const Refused& refused) const;

  Module& module_;
  const Program& unedited_;  // not to be asked while the module is edited
  AnalysisOptions options_;
  ContractSet contracts_;  // and that of the casts which are tried
  std::vector<Setting> settings_;
  std::map<Functions, Edited> before_;       // by what is edited
  std::map<Roots, Before> before_of_roots_;  // of one class
  std::vector<Tried> shared_;
  const Finding* finding_ = nullptr;
  std::size_t budget_ = 0;       // steps that what is judged now may take in all settings
  std::size_t for_finding_ = 0;  // and for the edits that are tried
  std::size_t spent_ = 0;        // for this finding
  std::size_t spent_on_others_ = 0;
  std::size_t for_all_ = 0;  // findings together: no more than the program itself may take
  std::size_t size_ = 0;     // instructions of the program
  std::set<Key> left_;       // operands of the finding that are still broken where inputs are as assumed
  std::set<std::uint32_t> unknowing_;  // roots that do not know what is cast to
  std::string limit_, objection_;
};

}  // namespace dtype_guard::flow
