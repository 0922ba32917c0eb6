// A virtual call of an object of which only a base is known. Where no other file can derive from
// that, and each of the classes that do gives a tensor of one dtype, that is what comes of it.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/calls.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}  // namespace

// Bottom where they differ, or what one of them gives is not known. What else they do is not taken from here,
// nor what they call: which of them runs is not known.
Value Calls::given_by_all_overrides(const Activation& activation, const Instruction& instruction,
                                    const VirtualCall& call, const State& state) {
  const Alternative* one = argument(state, instruction, 0).single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (!object || object->type.empty()) return {};
  const std::vector<std::uint32_t>& callees =
      program_.classes.overrides(object->type, call.method, instruction.args.size() - 1);
  if (callees.empty()) return {};
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < instruction.args.size(); ++i)
    arguments.push_back(argument(state, instruction, i));
  const ContextId inner = ids_.context(activation.context, &instruction);
  const Speculation run(effects_, kOneOverride);
  Value out;
  for (const std::uint32_t callee : callees) {
    State branch = state;
    bool alive = true;
    const Value given = evaluator_.call(callee, arguments, branch,
                                        ids_.context(inner, &index_.function(callee)), &activation, alive);
    if (alive) out = join(out, agree(given) ? given : Value::unknown(), symbols_);
  }
  if (!agree(out)) return {};
  // Other questions may hang on which class it is.
  const SymbolSetId which = questions_.asked(activation, instruction, state);
  std::vector<Alternative> all = out.alternatives();
  for (Alternative& each : all) each.symbols = symbols_.unite(each.symbols, which);
  return Value(std::move(all));
}

}  // namespace dtype_guard::flow
