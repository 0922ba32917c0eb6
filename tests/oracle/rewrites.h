// Changes of a program that leave what it does as it is, and so must leave what is found in it. A call that
// has a contract keeps its line, by which findings are told apart.
#pragma once

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

using flow::Module;

// rewrites.cpp
Module renamed(Module module, Random& random);
Module with_dead_code(Module module,
                      Random& random);  // values that nothing uses, a block that nothing leads to
Module with_blocks_moved(Module module, Random& random);
Module with_branches_turned(Module module, Random& random);  // if (!f) with its arms exchanged
Module with_own_dtypes(Module module, Random& random);  // what a call is given, cast to the dtype that it has

// restructured.cpp
Module outlined(Module module, Random& random);  // an operator in a function of its own
Module inlined(Module module, Random& random);   // a function without branches where it is called
Module unrolled(Module module, Random& random);  // the first round of a loop before the others

flow::ValueId last_value(const flow::Function& function);

}  // namespace dtype_guard::oracle
