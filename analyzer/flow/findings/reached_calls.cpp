#include "analyzer/flow/findings/reached_calls.h"

#include <algorithm>

namespace dtype_guard::flow {

namespace {
bool is_known(const SinkOperand& operand) {
  return std::all_of(operand.alternatives.begin(), operand.alternatives.end(), [](const Alternative& each) {
    return each.kind == Alternative::Kind::kNone ||
           (each.kind == Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined);
  });
}
}  // namespace

ReachedCalls::ReachedCalls(const Module& module, const std::set<std::uint32_t>& functions) {
  for (const std::uint32_t id : functions) {
    const Function& function = module.functions[id];
    if (function.foreign) continue;
    own_[id] = function.name;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kSink) calls_[place(each, each.name)] = {function.name, each.range, false, {}};
      }
    }
  }
}

void ReachedCalls::note(const std::vector<SinkRecord>& records) {
  for (const SinkRecord& record : records) {
    const Place here = place(*record.instruction, record.instruction->name);
    // What has no source of its own stands where it is called, which is known once it is.
    const auto caller = own_.find(record.function);
    if (caller != own_.end() && record.instruction->op == Op::kSink)
      calls_.try_emplace(here, Seen{caller->second, record.instruction->range, true, {}});
    const auto call = calls_.find(here);
    if (call == calls_.end()) continue;
    call->second.reached = true;
    for (const SinkOperand& operand : record.operands) {
      if (!is_known(operand)) call->second.unknown.insert(operand.role);
    }
  }
}

std::vector<ReachedCall> ReachedCalls::list() const {
  std::vector<ReachedCall> out;
  for (const auto& [place, seen] : calls_) {
    out.push_back({std::get<std::string>(place),
                   seen.function,
                   seen.range,
                   seen.reached,
                   {seen.unknown.begin(), seen.unknown.end()}});
  }
  return out;
}

}  // namespace dtype_guard::flow
