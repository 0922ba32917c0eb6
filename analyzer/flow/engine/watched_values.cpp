#include "analyzer/flow/engine/watched_values.h"

#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {

void Engine::note_watched(const Instruction& instruction, const State& state) {
  const auto found = watched_->find(&instruction);
  if (found == watched_->end()) return;
  constexpr std::size_t kMost = 32;
  std::vector<Alternative>& noted = found->second;
  for (const Alternative& each : tensors(state, value(state, instruction.result))) {
    const auto same = std::find_if(noted.begin(), noted.end(), [&](const Alternative& other) {
      return other == each && other.rank == each.rank;
    });
    if (same == noted.end() && noted.size() < kMost) noted.push_back(each);
  }
}

}  // namespace dtype_guard::flow
