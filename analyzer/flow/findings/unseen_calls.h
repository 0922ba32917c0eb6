// Calls that are spelt like attention and left no record: what is called there is not known, so nothing is
// said of what it is handed. Calls into the project's own code are no such calls: what stands in there is
// looked at by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/engine/followed_calls.h"
#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/program/function_index.h"
#include "rules/contracts/attention_names.h"

namespace dtype_guard::flow {

struct UnseenCall {
  enum class Cause : std::uint8_t {
    kLibrary,  // into a library whose source is not read
    kUnknown,  // what is called is not known
    kBudget,   // the root that comes to it was given up
  };
  std::string name;      // the last part of what is called
  std::string function;  // that it stands in
  SourceRange range;
  Cause cause = Cause::kUnknown;
  std::string detail;  // kLibrary: its name; kBudget: the root
};

class UnseenCalls {
 public:
  UnseenCalls(const FunctionIndex& index, const ContractSet& contracts) : index_(index), names_(contracts) {}
  // What the evaluation of one root went into.
  void note(const FollowedCalls& calls);
  // By position; `given_up`: functions that only roots over their budget come to, with such a root.
  std::vector<UnseenCall> list(const std::map<std::uint32_t, std::string>& given_up) const;

 private:
  bool is_lost(const Instruction& call) const;
  std::string library_of(const Instruction& call, const Function& function) const;
  void look_for_makers() const;
  bool may_be_own(const Instruction& call) const;
  bool may_have_some(const Function& function) const;
  void look_at(std::uint32_t id, const std::map<std::uint32_t, std::string>& given_up,
               std::vector<UnseenCall>& out) const;

  const FunctionIndex& index_;
  const AttentionNames names_;
  FollowedCalls calls_;
  mutable std::map<std::string, std::string, std::less<>> libraries_;  // field -> what made its value
  mutable bool looked_ = false;
  mutable std::optional<std::set<std::uint32_t>> files_with_own_;  // attention of their own
};

// "attn" of "self.attn(x)" and of "attn_->forward(q, k)": the name that says what is called; empty where the
// text does not tell.
std::string_view name_called(std::string_view text);

}  // namespace dtype_guard::flow
