#include "analyzer/flow/engine/operands.h"

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

bool is_slices(std::string_view how) { return how == "slice" || how == "part" || how == "new_dimension"; }

bool takes_slices(const Instruction& subscript) {
  return subscript.args.size() > 1 && is_slices(subscript.args[1].name);
}

}  // namespace dtype_guard::flow
