// Which instructions of the IR generated programs have. A property says something of those alone that some
// run goes through: one that no program has any more would leave it true of less than it says.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {

// Every operation by its word, and apart from that the calls and operators to which ir.h gives a meaning.
using InstructionCounts = std::map<std::string, std::size_t>;
// Adds those of the program that some of these runs went through; what ends a block, wherever it stands.
void count_instructions(const Module& module, const Passed& passed, InstructionCounts& out);
// All that are counted.
std::vector<std::string> counted_instructions();

}  // namespace dtype_guard::oracle
