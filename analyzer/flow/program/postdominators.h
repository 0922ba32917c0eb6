// The block that every path from a block to a return passes next: the tree of immediate
// postdominators of a control-flow graph. Ways that end in a throw or never end do not count.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

class Postdominators {
 public:
  // `order` is each block's position in reverse postorder; UINT32_MAX: not reached.
  Postdominators(const Function& function, const std::vector<std::uint32_t>& order);
  // Whether every path from `block` to a return passes `later`. True of a block itself, and of blocks
  // that do not return.
  bool always_follows(BlockId block, BlockId later) const;

 private:
  std::vector<std::uint32_t> next_;   // by BlockId; the number of blocks: the end
  std::vector<std::uint32_t> depth_;  // in the tree
};

}  // namespace dtype_guard::flow
