// Which functions are roots: some of their callers may stand outside the analysed code.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

// The functions whose inputs the setting decides; found once of a program.
const std::vector<std::uint32_t>& all_roots(const Program& program);

}  // namespace dtype_guard::flow
