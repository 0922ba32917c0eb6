// Functions without source as values: what they do is reported, and could be edited, where they are called.
#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {

// Null for a function that has a source.
const Stub* Engine::stub_at(std::uint32_t function, const Instruction* site) {
  const Function& original = index_.function(function);
  if (!site || !original.key.starts_with(kStub)) return nullptr;
  std::shared_ptr<Stub>& out = stubs_[{site, function}];
  if (out) return out.get();
  Function placed = original;
  for (Block& block : placed.blocks) {
    for (Instruction& each : block.instructions) {
      each.range = site->range;
      each.text = site->text;
      each.written = site->written;
    }
  }
  out = std::make_shared<Stub>(std::move(placed));
  return out.get();
}

}  // namespace dtype_guard::flow
