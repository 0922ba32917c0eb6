#include "analyzer/flow/program/dtype_questions.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/flow/program/consulted.h"
#include "analyzer/flow/program/half_conversions.h"

namespace dtype_guard::flow {

bool DtypeQuestions::asks_for_dtypes(std::uint32_t function) const {
  const auto [known, is_new] = asks_for_dtypes_.try_emplace(function);
  if (!is_new) return known->second;
  const std::set<std::uint32_t> all = index_.reached_from(function);
  return known->second = std::any_of(all.begin(), all.end(), [&](std::uint32_t each) {
           return index_.effects(each).asks_for_dtypes;
         });
}

bool DtypeQuestions::states_precision() const {
  Consulted::note_flow();
  if (states_precision_) return *states_precision_;
  const auto is_foreign = [&](const Instruction* call) {
    const std::vector<std::uint32_t>& called = index_.find(call->name);
    return std::any_of(called.begin(), called.end(),
                       [&](std::uint32_t each) { return index_.function(each).foreign; });
  };
  const auto is_seen = [&](const Instruction& call) { return !index_.may_run(call).empty(); };
  bool out = false;
  for (std::uint32_t i = 0; i < index_.module().functions.size() && !out; ++i) {
    if (index_.function(i).foreign) continue;
    out = index_.effects(i).states_precision;
    const std::vector<const Instruction*> handed =
        out ? std::vector<const Instruction*>()
            : handed_to_unseen(index_.function(i), index_.info(i), is_seen);
    out = out || std::any_of(handed.begin(), handed.end(), is_foreign);
  }
  states_precision_ = out;
  return out;
}

}  // namespace dtype_guard::flow
