// What could be edited to cure a finding, best first. Later casts come before earlier ones, so that as much
// of the arithmetic as possible stays wide; where a wide value has other uses, only what the call gets is
// cast.
#pragma once

#include <string>
#include <vector>

#include "analyzer/flow/edits/cast_edit.h"
#include "analyzer/flow/edits/round_flow.h"
#include "analyzer/flow/edits/source_text.h"
#include "rules/finding/finding.h"

namespace dtype_guard::flow {

struct Candidate {
  std::vector<CastEdit> edits;
  std::string title;
};

class Candidates {
 public:
  Candidates(const Module& module, const SourceText& text, RoundFlow& round, const Finding& finding);
  std::vector<Candidate> take() { return std::move(out_); }

 private:
  // An instruction of the path, and the function in which it stands.
  struct Site {
    const Function* function = nullptr;
    const Instruction* instruction = nullptr;
  };
  // What a call is given, where it is written.
  struct Passed {
    CastEdit edit;
    std::string word;       // the argument, when it is a plain name
    bool castable = false;  // where it stands
    std::size_t position = 0;
    std::string role;       // where the contract of the call has one for it
    bool is_wide = false;   // as the finding has it: on some path
    bool is_named = false;  // the finding says that it is what is wrong there
    bool is_right = false;  // on every path half
  };
  // "cast 'cos' and 'sin' to the dtype of 'x' for this call"
  static std::string for_call(const std::vector<const Passed*>& cast, const std::string& like);
  Site site(const SourceLocation& location) const;
  Site call_site(const SourceLocation& location) const;
  std::vector<Passed> passed(const Site& call) const;
  void judge(const Site& call, std::vector<Passed>& all) const;
  void add_operands(const Site& site, const Instruction& taker, std::vector<std::string>& out) const;
  std::vector<std::string> names(const Site& site) const;
  void after_arithmetic(std::size_t first, std::size_t steps, bool used_once);
  bool is_guilty(const Site& call, const Passed& each) const;
  void at_calls(bool only_guilty);
  void all_wide_ones(const std::vector<Passed>& all, const std::vector<std::string>& witnesses);
  void raise_others();
  void assign_discarded();
  void add(std::vector<CastEdit> edits, std::string title);

  const Module& module_;
  const SourceText& text_;
  RoundFlow& round_;
  const Finding& finding_;
  std::vector<Candidate> out_;
};

}  // namespace dtype_guard::flow
