#include "analyzer/flow/findings/reached_calls.h"

#include <algorithm>
#include <iterator>

#include "analyzer/flow/program/units_with_main.h"

namespace dtype_guard::flow {

ReachedCalls::ReachedCalls(const Program& program) : program_(program) {
  const Module& module = program.functions.module();
  const UnitsWithMain units(module);
  for (std::uint32_t id = 0; id < module.functions.size(); ++id) {
    const Function& function = module.functions[id];
    if (function.foreign) continue;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kSink)
          calls_[place(each, each.name)] = {function.name,         id, each.range, false,
                                            units.waits(function), {}, {},         {}};
      }
    }
  }
}

void ReachedCalls::note(const std::vector<SinkRecord>& records) {
  for (const SinkRecord& record : records) {
    const Place here = place(*record.instruction, record.instruction->name);
    // What has no source of its own stands where it is called, and what is evaluated only where it is called
    // is a call of the program's: both are known once they are reached.
    const Function& caller = program_.functions.function(record.function);
    const bool has_place = !caller.foreign || record.instruction->range.line > 0;
    if (has_place && record.place == SinkPlace::kCall)  // or a product, of attention by hand
      calls_.try_emplace(
          here, Seen{caller.name, record.function, record.instruction->range, true, false, {}, {}, {}});
    const auto call = calls_.find(here);
    if (call == calls_.end()) continue;
    call->second.reached = true;
    call->second.roots.insert(record.root);
    for (const SinkOperand& operand : record.operands) {
      call->second.operands.insert(operand.role);
      if (!is_known(operand)) call->second.open_in[operand.role].insert(record.root);
    }
  }
}

bool ReachedCalls::is_called(std::uint32_t root) const {
  const std::vector<std::uint32_t>& by_key = program_.callers.by_key()[root];
  return std::any_of(by_key.begin(), by_key.end(), [&](std::uint32_t each) { return each != root; }) ||
         !program_.called_modules.calls_of(root).empty();
}

std::vector<std::string> ReachedCalls::unknown_of(const Seen& seen) const {
  std::vector<std::string> out;
  if (seen.open_in.empty()) return out;
  std::set<std::uint32_t> outermost;
  std::copy_if(seen.roots.begin(), seen.roots.end(), std::inserter(outermost, outermost.end()),
               [&](std::uint32_t each) { return !is_called(each); });
  for (const auto& [role, roots] : seen.open_in) {
    const auto is_outermost = [&](std::uint32_t each) { return outermost.contains(each); };
    if (outermost.empty() || std::any_of(roots.begin(), roots.end(), is_outermost)) out.push_back(role);
  }
  return out;
}

std::vector<ReachedCall> ReachedCalls::list(const std::map<std::uint32_t, std::string>& given_up) const {
  std::vector<ReachedCall> out;
  for (const auto& [place, seen] : calls_) {
    const auto over = given_up.find(seen.id);
    if (seen.waits && !seen.reached && over == given_up.end()) continue;
    out.push_back({std::get<std::string>(place), seen.function, seen.range, seen.reached,
                   static_cast<int>(seen.operands.size()), unknown_of(seen),
                   over == given_up.end() || seen.reached ? "" : over->second});
  }
  return out;
}

}  // namespace dtype_guard::flow
