// Functions without source as values: what they do is reported, and could be edited, where they are called.
#include "analyzer/flow/engine/calls/stubs.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
// A method that a class has from an installed base: all of it stands at the class's name, which says nothing
// of where it is called.
bool is_inherited(const Function& function) {
  return function.blocks.size() == 1 && function.range.line > 0 &&
         std::all_of(function.blocks[0].instructions.begin(), function.blocks[0].instructions.end(),
                     [&](const Instruction& each) { return each.range == function.range; });
}
}  // namespace

// Null for a function that has a source in the project. Of an installed package's nothing can be edited.
const Stub* Stubs::stub_at(std::uint32_t function, const Instruction* site) {
  const Function& original = index_.function(function);
  const bool is_stub = original.key.starts_with(kStub);
  const bool is_installed = original.foreign && original.range.line == 0;
  if (!site || (!is_stub && !is_installed && !is_inherited(original))) return nullptr;
  std::shared_ptr<Stub>& out = stubs_[{site, function}];
  if (out) return out.get();
  Function placed = original;
  for (Block& block : placed.blocks) {
    for (Instruction& each : block.instructions) {
      each.range = site->range;
      each.text = site->text;
      each.written = is_stub ? site->written : Written::kOther;
    }
  }
  out = std::make_shared<Stub>(std::move(placed));
  return out.get();
}

}  // namespace dtype_guard::flow
