// What other methods than the root may have done to an object before the root is called: a tensor that one of
// them leaves in another dtype is not known to be as the constructor made it.
#include "analyzer/flow/roots/other_methods.h"

#include <algorithm>

#include "analyzer/flow/engine/held_values.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMaxMethods = 16;  // tried for one root

// By the code; what a setting hands in is its own affair.
bool is_known_float(const Alternative& each) {
  return each.kind == Kind::kTensor && is_floating(each.dtype) && !each.assumed;
}

// Whether every tensor is of a dtype that there was before.
bool keeps_dtypes(const std::vector<Alternative>& before, const std::vector<Alternative>& after) {
  return std::all_of(after.begin(), after.end(), [&](const Alternative& now) {
    return now.kind == Kind::kNone || std::any_of(before.begin(), before.end(), [&](const Alternative& was) {
             return now.kind == Kind::kTensor && was.kind == Kind::kTensor && now.dtype == was.dtype;
           });
  });
}
}  // namespace

// Nothing where the method cannot be followed to its end.
std::optional<State> OtherMethods::after_method(std::uint32_t method, HeapId object, const State& begun,
                                                ContextId root) {
  const Function& code = index_.function(method);
  const ContextId inner = ids_.context(root, &code);
  const Speculation run(effects_, kOtherMethod);
  State state = begun;
  bool alive = true;
  try {
    std::vector<Value> arguments = {Value(Alternative::at(Kind::kObject, object))};
    for (std::size_t i = 0; i < code.parameters.size(); ++i)
      arguments.push_back(
          inputs_.input(code.parameters[i], inner, static_cast<int>(i), Nature::kArgument, state));
    evaluator_.call(method, std::move(arguments), state, inner, nullptr, alive);
  } catch (const BudgetExceeded&) {
    alive = false;
  }
  return alive ? std::optional(std::move(state)) : std::nullopt;
}

// What it is, or what stands in the list that it is.
std::vector<Alternative> OtherMethods::held_tensors(const State& state, const Value& value) {
  std::vector<Alternative> out;
  for (const Value& each : memory_.elements(state, value)) {
    const std::vector<Alternative> one = memory_.tensors(state, each);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

void OtherMethods::doubt(State& state, HeapId object, const Key& key) {
  const Value held = state.find(object)->cells.at(key);
  if (!is_container(state, held)) {
    state.change(object).cells[key] = weakened(held);
    return;
  }
  HeapObject& list = state.change(held.single()->object);
  for (auto& [each, cell] : list.cells) cell = weakened(cell);
  if (!list.rest.is_bottom()) list.rest = weakened(list.rest);
}

// By name, so that the order does not hang on when a name was first seen.
std::map<std::string_view, const Value*> OtherMethods::fields_of(const HeapObject& object) const {
  std::map<std::string_view, const Value*> out;
  for (const auto& [key, held] : object.cells) {
    if (key.kind == Key::Kind::kField) out.emplace(ids_.field_name(key.id), &held);
  }
  return out;
}

void OtherMethods::doubt_reassigned(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                                    ContextId context) {
  std::optional<std::set<std::uint32_t>> seen_by_root;
  std::map<std::pair<HeapId, std::uint32_t>, std::optional<State>> outcomes;
  const State begun = state;
  // Whether what that function leaves there is of a dtype that was there before.
  const auto keeps = [&](std::uint32_t method, HeapId id, const Key& key,
                         const std::vector<Alternative>& before) {
    const auto [after, is_new] = outcomes.try_emplace({id, method});
    if (is_new && outcomes.size() <= kMaxMethods) after->second = after_method(method, id, begun, context);
    const HeapObject* object = after->second ? after->second->find(id) : nullptr;
    const auto now = object ? object->cells.find(key) : Cells::const_iterator();
    return object && now != object->cells.end() &&
           keeps_dtypes(before, held_tensors(*after->second, now->second));
  };
  for (const HeapId id : objects_below(state, arguments)) {
    const HeapObject& object = *begun.find(id);
    if (object.type.empty()) continue;
    for (const auto& [field, held] : fields_of(object)) {
      const std::vector<Fields::Reassigned>& all = program_.fields.reassigned(object.type, field);
      if (all.empty()) continue;
      const Key key = ids_.field(std::string(field));
      const std::vector<Alternative> before = held_tensors(begun, *held);
      if (std::none_of(before.begin(), before.end(), is_known_float)) continue;
      for (const Fields::Reassigned& each : all) {
        if (each.function && !seen_by_root) seen_by_root = index_.reached_from(root);
        if (each.function && seen_by_root->contains(*each.function)) continue;  // it is seen what that does
        if (!each.is_method || !keeps(*each.function, id, key, before)) doubt(state, id, key);
      }
    }
  }
}

}  // namespace dtype_guard::flow
