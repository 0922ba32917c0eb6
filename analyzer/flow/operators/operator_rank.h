// The rank of an operator's result, and what a call that does not throw proves of its inputs' ranks. It
// matters because only a tensor of at least one dimension promotes another of its category.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/values/values.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

// How an instruction's arguments are looked at.
struct RankInputs {
  std::function<Value(std::size_t)> argument;
  std::function<std::vector<Alternative>(const Value&)> tensors;  // its alternatives as a tensor
  // The elements of a list; nothing where it is none, or has more than those.
  std::function<std::optional<std::vector<Value>>(const Value&)> elements;
  std::function<Rank(const Value&)> length;  // how many a list has, if it is one
  std::function<bool(const Value&)> is_list;
};

class OperatorRank {
 public:
  OperatorRank(const Operator& op, const Instruction& instruction, RankInputs inputs);
  Rank result() const;
  // The argument that the table calls first, and in what interval its rank is.
  std::size_t first() const { return first_; }
  Rank of_first() const;
  // Where that is a list: how many tensors are in it, and in what interval the rank of each is by the others.
  std::size_t count_listed() const;
  Rank of_listed(std::size_t which) const;

 private:
  std::size_t position(std::string_view name) const;
  bool is_given(std::size_t position) const;
  Rank rank_of(std::size_t position) const;
  std::optional<std::vector<Rank>> listed(std::size_t position) const;
  std::optional<std::size_t> count(std::size_t position) const;
  std::int64_t highest(bool takes_scalars) const;
  Rank reduced(const Rank& first) const;
  Rank from_shape(const Rank& first) const;
  Rank broadcast_all(const Rank& first) const;
  Rank one_more(const Rank& first) const;
  Rank joined() const;
  Rank stated_rank() const;

  const Operator& op_;
  const Instruction& instruction_;
  RankInputs inputs_;
  std::size_t first_ = 0;
};

}  // namespace dtype_guard::flow
