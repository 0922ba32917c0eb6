// Functions without source as values: what they do is reported, and could be edited, where they are called.
#include "analyzer/flow/engine/calls/stubs.h"

namespace dtype_guard::flow {

// Null for a function that has a source in the project. Of an installed package's nothing can be edited.
const Stub* Stubs::stub_at(std::uint32_t function, const Instruction* site) {
  const Function& original = index_.function(function);
  const bool is_stub = original.key.starts_with(kStub);
  const bool is_installed = original.foreign && original.range.line == 0;
  if (!site || (!is_stub && !is_installed)) return nullptr;
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
