// Values that a question of an editor is about, noted while they are computed.
#pragma once

#include <map>
#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

// What instructions gave, in whatever context: tensors and what else they were, each once.
using WatchedValues = std::map<const Instruction*, std::vector<Alternative>>;

}  // namespace dtype_guard::flow
