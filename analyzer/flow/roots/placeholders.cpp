// What other code puts where a constructor left None, `self.cache = None`, or set a flag: the root may run
// before or behind that. A module that a method makes and puts there is an alternative beside None; where it
// is not known what is put there, the field is open.
#include <algorithm>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/roots/other_methods.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMaxTried = 8;  // for one root

bool is_placeholder(const Alternative& each) {
  return !each.symbols && (each.kind == Kind::kNone || (each.kind == Kind::kBool && each.has_number));
}

// One that a constructor leaves empty is there to be filled.
bool is_empty_list(const HeapObject& object) {
  const bool is_list = object.kind == HeapObject::Kind::kContainer || object.type == kDictionary;
  return is_list && object.cells.empty() && object.rest.is_bottom() && !object.is_input;
}

Value an_open_flag(SymbolSetId own) {
  Alternative out = Alternative::boolean(std::nullopt);
  out.symbols = own;
  out.truth = Truth::kSymbol;
  return Value(out);
}

// What the value leads to and the state does not have yet. What both have stays as it is.
void bring(State& state, const State& from, const Value& value) {
  std::vector<Value> work = {value};
  while (!work.empty()) {
    const Value next = work.back();
    work.pop_back();
    for (const Alternative& each : next) {
      const bool leads =
          each.kind == Kind::kObject || each.kind == Kind::kHandle || each.kind == Kind::kReference;
      const HeapObject* object = leads ? from.find(each.object) : nullptr;
      if (!object || state.find(each.object)) continue;
      state.put(each.object, *object);
      for (const auto& [key, cell] : object->cells) work.push_back(cell);
      for (const Registration& one : object->registered) work.push_back(one.value);
      work.push_back(object->rest);
    }
  }
}

bool is_known(const Alternative& each) {
  const bool is_tensor = each.kind == Kind::kTensor && is_floating(each.dtype) && !each.assumed;
  return is_tensor || each.kind == Kind::kObject || each.kind == Kind::kHandle;
}
}  // namespace

const State* OtherMethods::outcome(std::uint32_t method, HeapId object, const State& begun, ContextId root,
                                   Outcomes& all) {
  const auto [found, is_new] = all.try_emplace({object, method});
  if (is_new && all.size() <= kMaxTried) found->second = after_method(method, object, begun, root);
  return found->second ? &*found->second : nullptr;
}

// Nothing where a function is no method of an object at hand, leaves what is not known, or runs the root
// itself: that is seen from there.
std::optional<Value> OtherMethods::put_there(const std::vector<Fields::Reassigned>& by, HeapId object,
                                             const Key& key, const Beginning& begun, Outcomes& all,
                                             State& state) {
  Value out;
  for (const Fields::Reassigned& each : by) {
    if (!each.function || index_.reached_from(*each.function).contains(begun.function)) return std::nullopt;
    const Function& code = index_.function(*each.function);
    bool is_followed = false;
    for (const HeapId id : begun.objects) {
      const std::string& type = begun.state.find(id)->type;
      const bool runs_on = each.is_method ? id == object
                                          : code.kind == FunctionKind::kMethod && !type.empty() &&
                                                program_.classes.derives(type, code.class_name);
      const State* after = runs_on ? outcome(*each.function, id, begun.state, begun.context, all) : nullptr;
      const HeapObject* now = after ? after->find(object) : nullptr;
      const auto cell = now ? now->cells.find(key) : Cells::const_iterator();
      if (!now || cell == now->cells.end()) continue;
      is_followed = true;
      for (Alternative one : cell->second) {
        if (one.kind == Kind::kNone) continue;
        if (!is_known(one)) return std::nullopt;
        one.rank.symbol = 0;
        bring(state, *after, Value(one));
        out = join(out, Value(one), symbols_);
      }
    }
    if (!is_followed) return std::nullopt;
  }
  return out;
}

void OtherMethods::fill_placeholders(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                                     ContextId context) {
  std::optional<std::set<std::uint32_t>> seen_by_root;
  Outcomes outcomes;
  const Beginning begun{state, objects_below(state, arguments), root, context};
  // What the root runs itself is seen there.
  const auto is_seen = [&](const Fields::Reassigned& each) {
    if (!seen_by_root) seen_by_root = index_.reached_from(root);
    return each.function && seen_by_root->contains(*each.function);
  };
  for (const HeapId id : begun.objects) {
    const HeapObject& object = *begun.state.find(id);
    if (is_empty_list(object)) state.change(id).may_be_shorter = true;
    if (object.type.empty() || object.kind != HeapObject::Kind::kInstance) continue;
    for (const std::string& field : program_.fields.placeholders(object.type)) {
      const Key key = ids_.field(field);
      const auto held = object.cells.find(key);
      const Alternative* left = held == object.cells.end() ? nullptr : held->second.single();
      if (!left || !is_placeholder(*left)) continue;
      const std::vector<Fields::Reassigned>& all = program_.fields.reassigned(object.type, field);
      if (all.empty() || std::any_of(all.begin(), all.end(), is_seen)) continue;
      const SymbolSetId own = memory_.symbols_of_field(id, object, key.id);
      if (left->kind == Kind::kBool) {
        state.change(id).cells[key] = an_open_flag(own);
        continue;
      }
      const std::optional<Value> put = put_there(all, id, key, begun, outcomes, state);
      std::vector<Alternative> open = put ? put->alternatives() : Value::unknown(own).alternatives();
      if (put) open.push_back(*left);
      for (Alternative& one : open) one.symbols = own;
      state.change(id).cells[key] = Value(std::move(open));
      for (const Alternative& one : put ? *put : Value()) {
        const HeapObject* made = one.kind == Kind::kObject ? state.find(one.object) : nullptr;
        if (made) inputs_.hand_over(state, Value(one), std::string(made->type), true);
      }
    }
  }
}

}  // namespace dtype_guard::flow
