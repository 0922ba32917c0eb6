// Changes of a program that ask nothing of what it means, so that the engine meets IR that no front end
// gives: another operation, other values and blocks, other names, functions and classes of another kind. Most
// of what comes of it is still IR.
#pragma once

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

void mutate(flow::Module& program, Random& random);

}  // namespace dtype_guard::oracle
