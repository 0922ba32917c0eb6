// What a finding says in words: the operand, what it is and how that came about, what the call wants, and
// the cure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/edits/round_flow.h"
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

// `rounds`: what widened it is given what it gave, in the next round of a loop or by another call.
// `file`: where it was widened, in whose language the cure is spelt.
std::string message(std::string_view rule, const Defect& defect, const RoundsAround& rounds,
                    std::string_view file);

// How it ends: what the operand reaches, or where it is checked.
std::string arrival(const Defect& defect);

std::vector<std::string> dtypes_of(const SinkOperand& operand);

template <typename T>
void add_once(std::vector<T>& to, const T& item) {
  if (std::find(to.begin(), to.end(), item) == to.end()) to.push_back(item);
}

}  // namespace dtype_guard::flow
