#include "analyzer/flow/program/dtype_questions.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {

bool DtypeQuestions::asks_for_dtypes(std::uint32_t function) const {
  const auto [known, is_new] = asks_for_dtypes_.try_emplace(function);
  if (!is_new) return known->second;
  const std::set<std::uint32_t> all = index_.reached_from(function);
  return known->second = std::any_of(all.begin(), all.end(), [&](std::uint32_t each) {
           const std::vector<Block>& blocks = index_.function(each).blocks;
           return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
             return std::any_of(block.instructions.begin(), block.instructions.end(),
                                [](const Instruction& one) { return one.op == Op::kDtypeOf; });
           });
         });
}

// Of a table that dtypes are looked up in, which function runs goes with the dtype.
bool DtypeQuestions::names_dtypes(std::uint32_t function) const {
  const std::vector<Block>& blocks = index_.function(function).blocks;
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), [](const Instruction& each) {
      return each.op == Op::kDtypeOf || std::holds_alternative<Dtype>(each.constant);
    });
  });
}

}  // namespace dtype_guard::flow
