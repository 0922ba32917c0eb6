// A virtual call of an object of which only a base is known. Where nobody outside the file can derive from
// that, and each of the classes that do gives a tensor of one dtype, that is what comes of it.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMaxOverrides = 8;
constexpr std::size_t kMaxHeirs = 4;  // of one method
}  // namespace

const std::vector<std::uint32_t>& FunctionIndex::overrides(const std::string& class_name,
                                                           std::string_view method,
                                                           std::size_t parameters) const {
  const auto [found, is_new] = overrides_.try_emplace({class_name, std::string(method), parameters});
  std::vector<std::uint32_t>& out = found->second;
  const ClassFacts* base = is_new ? class_facts(class_name) : nullptr;
  if (!base || !base->local) return out;
  const auto same_name = methods_of_any_class_.find(method);
  if (same_name == methods_of_any_class_.end()) return out;
  std::set<std::string_view> classes;  // that have such a method
  for (const std::uint32_t each : same_name->second) {
    if (function(each).parameters.size() == parameters) classes.insert(function(each).class_name);
  }
  for (const ClassFacts& each : module_->classes) {
    if (&each == base || !derives(each.name, class_name)) continue;
    if (!each.local && !classes.contains(each.name)) continue;  // a name that two classes have, mostly
    const auto is_seen = [&](const std::string& key) { return find(key).size() == 1; };
    if (!each.local || !std::all_of(each.virtuals.begin(), each.virtuals.end(), is_seen)) {
      out.clear();
      return out;
    }
    for (const std::string& key : each.virtuals) {
      const std::uint32_t one = find(key).front();
      if (method_name(function(one)) == method && function(one).parameters.size() == parameters)
        out.push_back(one);
    }
  }
  if (out.size() > kMaxOverrides) out.clear();
  return out;
}

const std::vector<std::string>& FunctionIndex::heirs(std::uint32_t method) const {
  const auto [found, is_new] = heirs_.try_emplace(method);
  const Function& code = function(method);
  if (!is_new || code.kind != FunctionKind::kMethod) return found->second;
  std::optional<std::set<std::uint32_t>> reached;
  for (const ClassFacts& each : module_->classes) {
    if (each.name == code.class_name || !derives(each.name, code.class_name)) continue;
    const std::vector<std::uint32_t> runs =
        inherited(each.name, method_name(code), code.parameters.size(), units_of(code).front());
    if (runs.size() != 1 || runs.front() != method) continue;
    if (!reached) reached = reached_from(method);
    const bool has_part = std::any_of(reached->begin(), reached->end(), [&](std::uint32_t callee) {
      return function(callee).kind == FunctionKind::kMethod && function(callee).class_name == each.name;
    });
    if (has_part && found->second.size() < kMaxHeirs) found->second.push_back(each.name);
  }
  return found->second;
}

// Bottom where they differ, or what one of them gives is not known. What else they do is not taken from here,
// nor what they call: which of them runs is not known.
Value Engine::given_by_all_overrides(const Activation& activation, const Instruction& instruction,
                                     const VirtualCall& call, const State& state) {
  const Alternative* one = argument(state, instruction, 0).single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (!object || object->type.empty()) return {};
  const std::vector<std::uint32_t>& callees =
      index_.overrides(object->type, call.method, instruction.args.size() - 1);
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
    const Value given = this->call(callee, arguments, branch, ids_.context(inner, &index_.function(callee)),
                                   &activation, alive);
    if (alive) out = join(out, agree(given) ? given : Value::unknown(), symbols_);
  }
  if (!agree(out)) return {};
  // Other questions may hang on which class it is.
  const SymbolSetId which = asked(activation, instruction, state);
  std::vector<Alternative> all = out.alternatives();
  for (Alternative& each : all) each.symbols = symbols_.unite(each.symbols, which);
  return Value(std::move(all));
}

}  // namespace dtype_guard::flow
