// The sizes that a tensor was made with, where the code writes them out: `torch.empty(0, 0, 4)`, which stands
// for a cache that is not there yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/subject.h"

namespace dtype_guard::flow {

struct MadeWhere {
  const Origins& origins;
  const FunctionIndex& functions;
};

// What `question` asks of one dimension, x.size(0). Nothing where it asks something else, or the tensor may
// have been made otherwise or was changed since.
std::optional<std::int64_t> told_size(std::string_view question, const Instruction& asked, const State& state,
                                      Memory& memory, const MadeWhere& where);

}  // namespace dtype_guard::flow
