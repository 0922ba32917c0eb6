#include "analyzer/flow/program/dtype_questions.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {

bool DtypeQuestions::asks_for_dtypes(std::uint32_t function) const {
  const auto [known, is_new] = asks_for_dtypes_.try_emplace(function);
  if (!is_new) return known->second;
  const std::set<std::uint32_t> all = index_.reached_from(function);
  return known->second = std::any_of(all.begin(), all.end(), [&](std::uint32_t each) {
           return index_.effects(each).asks_for_dtypes;
         });
}

}  // namespace dtype_guard::flow
