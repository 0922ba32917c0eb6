// The checks of a dtype that were passed on the way to a point.
#pragma once

#include <vector>

#include "analyzer/flow/engine/activation.h"

namespace dtype_guard::flow {

void note_tests(const Activation& activation, State& state, ValueId condition, bool wanted, PassedTest test,
                int depth = 0);
std::vector<PassedTest> tests_before(const Activation& activation, const State& state);

}  // namespace dtype_guard::flow
