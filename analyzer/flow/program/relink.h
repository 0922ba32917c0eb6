// Linked modules of which one was replaced, without linking the others again: what an editor's user types
// changes one file, and what the others are in the program stays.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

struct Relinked {
  bool is_done = false;
  // Where nothing but bodies of functions differs: of which, as the linked module numbers them. All others
  // stand where they stood.
  std::optional<std::vector<std::uint32_t>> bodies;
};

// `linked` is what link() made of `modules` with `before` as the one of this number, and becomes what link()
// makes of `modules`. Not done where the replacement may change what others are: `linked` is then as it was.
Relinked relink(Module& linked, const std::vector<const Module*>& modules, std::uint32_t number,
                const Module& before);

}  // namespace dtype_guard::flow
