#include "analyzer/flow/findings/reached_calls.h"

#include <algorithm>
#include <iterator>

namespace dtype_guard::flow {

namespace {
bool is_known(const SinkOperand& operand) {
  return std::all_of(operand.alternatives.begin(), operand.alternatives.end(), [](const Alternative& each) {
    return each.kind == Alternative::Kind::kNone ||
           (each.kind == Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined);
  });
}
}  // namespace

ReachedCalls::ReachedCalls(const Module& module) {
  for (const Function& function : module.functions) {
    if (function.foreign) continue;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kSink) calls_[place(each, each.name)] = {function.name, each.range, {}, {}};
      }
    }
  }
}

void ReachedCalls::note(const std::vector<SinkRecord>& records) {
  for (const SinkRecord& record : records) {
    const auto call = calls_.find(place(*record.instruction, record.instruction->name));
    if (call == calls_.end()) continue;
    for (const SinkOperand& operand : record.operands) {
      call->second.asked.insert(operand.role);
      if (is_known(operand)) call->second.known.insert(operand.role);
    }
  }
}

std::vector<ReachedCall> ReachedCalls::list() const {
  std::vector<ReachedCall> out;
  for (const auto& [place, seen] : calls_) {
    ReachedCall call{std::get<std::string>(place), seen.function, seen.range, !seen.asked.empty(), {}};
    std::set_difference(seen.asked.begin(), seen.asked.end(), seen.known.begin(), seen.known.end(),
                        std::back_inserter(call.unknown));
    out.push_back(std::move(call));
  }
  return out;
}

}  // namespace dtype_guard::flow
