// Tensors that a module owns. Each is a handle from then on wherever it is known, so that a conversion of the
// module is seen there: in the caller's values too, and for all that may be that tensor in doubt.
#include "analyzer/flow/engine/memory/registration.h"

#include <algorithm>
#include <utility>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/settings/module_types.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
using Registered = TensorChanges::Registered;
constexpr int kMaxPointers = 8;
constexpr int kMaxIndirections = 8;

bool is_tensor(const Alternative& each) { return each.kind == Kind::kTensor; }

// Not made here: others may know it too.
bool is_handed_in(const Activation& activation, ValueId id) {
  const Instruction* made = activation.info.definition(id);
  if (!made || made->op == Op::kCast) return !made;
  const Operator* op = made->op == Op::kOperator ? find_operator(made->name) : nullptr;
  if (!op && made->name == "subscript") return !takes_slices(*made);
  return !op || op->in_place;
}

// Of a join it is not known which of several tensors it is: it may have forgotten whose rank it has, or be
// one or the other.
bool forgot_which(const Alternative& each) {
  return each.of_several || (!each.rank.symbol && !each.rank.is_exact());
}
bool may_be(const Value& value, const Value& registered) {
  return std::any_of(value.begin(), value.end(), [&](const Alternative& each) {
    return is_tensor(each) && std::any_of(registered.begin(), registered.end(), [&](const Alternative& one) {
             const bool of_one_rank = each.rank.symbol && each.rank.symbol == one.rank.symbol;
             return same_place_in_order(each, one) &&
                    (forgot_which(each) || forgot_which(one) ||
                     ((value.size() > 1 || registered.size() > 1) && of_one_rank));
           });
  });
}

bool is_there(const State& state, const Value& handles) {
  return std::all_of(handles.begin(), handles.end(), [&](const Alternative& each) {
    return each.kind != Kind::kHandle || state.find(each.object);
  });
}

void add_once(std::vector<Registered>& all, const Registered& more) {
  const auto same = [&](const Registered& each) {
    return each.before.same(more.before) && each.after == more.after;
  };
  const auto known = std::find_if(all.begin(), all.end(), same);
  if (known == all.end()) {
    all.push_back(more);
  } else {
    known->always = known->always && more.always;
  }
}

// What it was before it was handed to the running function; bottom: as it is.
Value before_call(const Value& handed, const Origins& origins) {
  std::vector<Alternative> out = handed.alternatives();
  bool is_other = false;
  for (Alternative& each : out) {
    const Step* last = is_tensor(each) ? origins.step(each.trail) : nullptr;
    if (!last || last->op != "call") continue;
    each.trail = last->parent;
    is_other = true;
  }
  return is_other ? Value(std::move(out)) : Value();
}

// Where a value may be that tensor, it may also be what its module makes of it.
class Doubt {
 public:
  // Callers know it as this: without the steps that say where it was handed on.
  void add_names(const Origins& origins) {
    for (Value known = before_call(before_, origins); !known.is_bottom(); known = before_call(known, origins))
      names_.push_back(known);
  }

  // A tensor that was made here is known by other names only where ways met.
  Doubt(const Registered& registered, SymbolSets& symbols, bool is_made_here = false)
      : before_(registered.before),
        after_(weakened(registered.after)),
        symbols_(symbols),
        is_made_here_(is_made_here) {}

  void values(State& state) const {
    std::vector<std::pair<std::size_t, Value>> doubted;
    state.values.visit_where([](const NoSummary&) { return true; },
                             [&](std::size_t id, const Value& each) {
                               if (concerns(each)) doubted.emplace_back(id, doubtful(each));
                               return true;
                             });
    for (const auto& [id, value] : doubted) state.values.change(id) = value;
  }

  // What a tensor itself holds is its own.
  void cells(State& state) const {
    std::vector<HeapId> holders;
    state.heap.visit_where([](const HeldValues&) { return true; },
                           [&](std::size_t id, const HeapPointer& object) {
                             if (object && has(*object)) holders.push_back(static_cast<HeapId>(id));
                             return true;
                           });
    for (const HeapId id : holders) {
      HeapObject& holder = state.change(id);
      for (auto& [key, cell] : holder.cells) cell = concerns(cell) ? doubtful(cell) : cell;
      if (concerns_rest(holder.rest)) holder.rest = doubtful(holder.rest);
    }
  }

 private:
  Value doubtful(const Value& value) const {
    return doubtful_.of(value, [&](const Value& each) { return join(weakened(each), after_, symbols_); });
  }
  bool has(const HeapObject& object) const {
    using Object = HeapObject::Kind;
    return object.kind != Object::kTensor && object.kind != Object::kBuffer &&
           (concerns_rest(object.rest) ||
            std::any_of(object.cells.begin(), object.cells.end(),
                        [&](const auto& cell) { return concerns(cell.second); }));
  }
  static bool is_join(const Value& value) {
    return std::any_of(value.begin(), value.end(), [](const Alternative& each) { return each.of_several; });
  }
  bool concerns(const Value& value) const {
    const bool by_name = std::find(names_.begin(), names_.end(), value) != names_.end();
    return by_name || ((is_join(value) || !is_made_here_) && may_be(value, before_));
  }
  // What a list was handed in with is another tensor than one that is handed in beside it.
  bool concerns_rest(const Value& rest) const { return is_join(rest) && may_be(rest, before_); }

  const Value& before_;
  Value after_;
  SymbolSets& symbols_;
  bool is_made_here_;
  std::vector<Value> names_;
  mutable MadeOnce doubtful_;
};

// A constructor kept it in a plain member before it registered it, where a mark tells the value apart.
void doubt_plain_members(State& state, HeapId owner, const Registered& registered, const Origins& origins,
                         SymbolSets& symbols) {
  const auto is_marked = [&](const Alternative& each) {
    const Step* kept = is_tensor(each) ? origins.step(each.trail) : nullptr;
    return kept && kept->kind == Step::Kind::kPlainMember;
  };
  // Calls that it was handed to on the way are no other tensor.
  const auto before_calls = [&](Value known) {
    for (Value before = known; !before.is_bottom(); before = before_call(known, origins)) known = before;
    return known;
  };
  const Value before = before_calls(registered.before);
  const auto holds_it = [&](const Value& cell) {
    if (std::none_of(cell.begin(), cell.end(), is_marked)) return false;
    std::vector<Alternative> all = cell.alternatives();
    for (Alternative& each : all) {
      if (is_marked(each)) each.trail = origins.step(each.trail)->parent;
    }
    return before_calls(Value(std::move(all))) == before;
  };
  std::vector<Key> cells;
  for (const auto& [key, cell] : state.find(owner)->cells) {
    if (holds_it(cell)) cells.push_back(key);
  }
  for (const Key& key : cells) {
    Value& cell = state.change(owner).cells[key];
    cell = join(weakened(cell), weakened(registered.after), symbols);
  }
}
}  // namespace

// The handle by which the tensor is known from here on.
Value Registrations::owned_tensor(const Activation& activation, const Instruction& instruction,
                                  State& state) {
  Value plain = argument(state, instruction, 1);
  for (int i = 0; i < kMaxPointers; ++i) {
    const Alternative* one = plain.single();
    if (!one || one->kind != Kind::kReference) break;
    plain = memory_.read(state, Location{one->object, one->key});
  }
  Value handles, contents;
  bool is_known = true;
  for (const Alternative& each : plain) {
    if (each.kind == Kind::kHandle) handles = join(handles, Value(each), symbols_);
    is_known = is_known && (is_tensor(each) || each.kind == Kind::kHandle);
    const std::vector<Alternative> held =
        each.kind == Kind::kHandle ? std::vector<Alternative>{} : memory_.tensors(state, Value(each));
    for (Alternative one : held) {
      const Step* kept = origins_.step(one.trail);
      if (kept && kept->kind == Step::Kind::kPlainMember) one.trail = kept->parent;  // not plain after all
      contents = join(contents, Value(one), symbols_);
    }
  }
  // Without contents of its own there is no tensor to make: `nn.Parameter(...) if affine else None` is one or
  // None.
  if (!handles.is_bottom() && std::all_of(contents.begin(), contents.end(),
                                          [](const Alternative& each) { return each.kind == Kind::kNone; }))
    return join(handles, contents, symbols_);
  const HeapId id = ids_.object(activation.context, &instruction);
  // In the next round of a loop it may be the one that was registered in the last.
  const bool again =
      std::any_of(handles.begin(), handles.end(), [&](const Alternative& each) { return each.object == id; });
  if (again && state.find(id))
    contents = join(contents, state.find(id)->cells.at(HeapObject::kContents), symbols_);
  const Value handle = memory_.shared_tensor(id, HeapObject::Kind::kTensor, contents, state);
  const Registered made{plain, join(handles, handle, symbols_), true, activation.block};
  if (!is_known) return made.after;
  replace_everywhere(state, plain, made.after);
  const bool is_made_here = !is_handed_in(activation, instruction.args[1].value);
  Doubt doubt(made, symbols_, is_made_here);
  if (!is_made_here) doubt.add_names(origins_);
  doubt.values(state);
  doubt.cells(state);
  const Alternative* owner = argument(state, instruction, 0).single();
  if (owner && owner->kind == Kind::kObject && state.find(owner->object))
    doubt_plain_members(state, owner->object, made, origins_, symbols_);
  if (!is_made_here) add_once(changes_.registered, made);
  return made.after;
}

void Registrations::enter(HeapId owner, Registration entry, State& state) const {
  for (const Alternative& each : entry.value)
    if (entry.name.empty() && each.object) entry.name = "#" + std::to_string(each.object);
  auto& all = state.change(owner).registered.change();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Registration& each) { return each.name == entry.name; });
  if (found != all.end())
    *found = std::move(entry);
  else
    all.push_back(std::move(entry));
}

Value Registrations::registration(const Activation& activation, const Instruction& instruction,
                                  State& state) {
  Value registered = argument(state, instruction, 1);
  const bool is_member = instruction.name == "member";  // of an object that may be no module
  const bool by_value = instruction.name == "attribute" || is_member;
  const auto of_value = by_value ? registered_as(state, registered) : std::nullopt;
  if (by_value && !of_value) return registered;
  const Alternative* of = argument(state, instruction, 0).single();
  const HeapObject* object = of && of->kind == Kind::kObject ? state.find(of->object) : nullptr;
  if (is_member && !(object && is_module_type(object->type))) return registered;
  const auto kind = of_value                       ? *of_value
                    : instruction.name == "module" ? Registration::Kind::kModule
                    : instruction.name == "buffer" ? Registration::Kind::kBuffer
                                                   : Registration::Kind::kParameter;
  if (kind != Registration::Kind::kModule) registered = owned_tensor(activation, instruction, state);
  const auto* name = std::get_if<std::string>(&instruction.constant);
  Value owners = argument(state, instruction, 0);
  if (const Alternative* one = owners.single(); one && one->kind == Kind::kReference) {
    owners = memory_.read(state, Location{one->object, one->key});
  }
  for (const Alternative& owner : owners) {
    if (owner.kind == Kind::kObject)
      enter(owner.object, {kind, name ? *name : std::string(), registered}, state);
  }
  return registered;
}

// nn.Sequential(*layers), nn.ModuleList(layers): the container's parts are the list's, each in its place
// where that is known.
void Registrations::take_layers(const Instruction& instruction, State& state) {
  const Alternative* owner = argument(state, instruction, 0).single();
  const Alternative* given = argument(state, instruction, 1).single();
  if (!owner || owner->kind != Kind::kObject) return;
  const HeapObject* list = given && given->kind == Kind::kObject ? state.find(given->object) : nullptr;
  const bool is_known =
      list && list->kind == HeapObject::Kind::kContainer && list->stands == HeapObject::Stands::kForItself;
  const auto take = [&](const std::string& name, const Key& place, const Value& part) {
    if (const auto kind = registered_as(state, part))
      state.change(owner->object).registered.change().push_back({*kind, name, part});
    memory_.write(state, Location{owner->object, place}, part, place.kind == Key::Kind::kIndex);
  };
  if (!is_known) {
    const Value any = given && given->kind == Kind::kObject
                          ? memory_.read(state, Location{given->object, {Key::Kind::kAny, 0}})
                          : Value();
    return take("0", {Key::Kind::kAny, 0}, any.is_bottom() ? Value::unknown() : any);
  }
  const HeapObject parts = *list;
  for (const auto& [key, part] : parts.cells) {
    if (key.kind == Key::Kind::kIndex) take(std::to_string(key.id), key, part);
  }
  if (!parts.rest.is_bottom()) take("more", {Key::Kind::kAny, 0}, parts.rest);
}

void Registrations::take_over_registered(State& state, const Registered& callees, const Activation* caller) {
  Registered own = callees;
  if (!is_there(state, own.after)) return;  // of a run that was dropped
  if (!own.always) own.after = join(weakened(own.before), weakened(own.after), symbols_);
  replace_everywhere(state, own.before, own.after);
  Doubt doubt(own, symbols_);
  doubt.add_names(origins_);
  doubt.values(state);
  if (own.before.size() > 1) doubt.cells(state);
  const Alternative* self =
      caller && !caller->arguments.empty() ? caller->arguments.front().single() : nullptr;
  if (self && self->kind == Kind::kObject && state.find(self->object))
    doubt_plain_members(state, self->object, own, origins_, symbols_);
  own.block = caller ? caller->block : 0;
  add_once(changes_.registered, own);
}

// The callee returned: its caller goes on with what was done by both.
void Registrations::take_over_changes(State& state, TensorChanges callers, const Activation& callee) {
  TensorChanges own = std::exchange(changes_, std::move(callers));
  take_over_ranks(state, own.ranks);
  for (Registered& each : own.registered) {
    each.always = each.always && callee.info.always_follows(0, each.block);
    take_over_registered(state, each, callee.caller);
  }
}

// The callee knew it as `passed`.
void Registrations::take_over_changes_of(State& state, const Value& own, const Value& passed,
                                         const Activation& caller) {
  if (own.same(passed)) return;
  const Value known = own;
  const auto& ranks = changes_.ranks;
  if (std::any_of(ranks.begin(), ranks.end(), [&](const Value& each) { return each.same(passed); }))
    set_rank(state, known, {});
  for (const Registered& each : std::vector<Registered>(changes_.registered)) {
    if (each.before.same(passed) && !(known == each.after))
      take_over_registered(state, {known, each.after, each.always, each.block}, &caller);
  }
}

// An operator in place gave the tensor other dimensions: all handles on it have them.
void Registrations::set_rank(State& state, const Value& tensor, const Rank& now, int depth) {
  const Value before = tensor;
  std::vector<Alternative> open;
  bool changed = false;
  for (Alternative each : before) {
    const bool points = each.kind == Kind::kHandle || each.kind == Kind::kReference;
    if (points && depth < kMaxIndirections) {
      const Location place{each.object, each.kind == Kind::kHandle ? HeapObject::kContents : each.key};
      const HeapObject* object = state.find(place.object);
      const auto cell = object ? object->cells.find(place.key) : Cells::const_iterator();
      if (object && cell != object->cells.end()) set_rank(state, Value(cell->second), now, depth + 1);
    }
    if (each.kind == Kind::kTensor && !each.rank.wrapped && !(each.rank == now)) {
      each.rank = now;
      changed = true;
    }
    open.push_back(each);
  }
  if (!changed) return;
  changes_.ranks.push_back(before);
  replace_everywhere(state, before, Value(std::move(open)));
}

// What a callee gave other dimensions in place has them in its callers too, by whatever names they know it:
// on some path at least, so how many they are is not known.
void Registrations::take_over_ranks(State& state, const std::vector<Value>& changed) {
  for (const Value& each : changed) set_rank(state, each, {});
  changes_.ranks.insert(changes_.ranks.end(), changed.begin(), changed.end());
}

bool Registrations::is_module_type(const std::string& type) const {
  if (find_module_type(type) || type.starts_with(name_of(Named::kModules))) return true;
  const auto are_of_module = [&](const std::vector<std::uint32_t>& all) {
    return std::any_of(all.begin(), all.end(),
                       [&](std::uint32_t each) { return index_.function(each).of_module; });
  };
  return are_of_module(index_.constructors(type, root_.unit)) ||
         are_of_module(
             classes_.inherited(type, name_of(Named::kForward), FunctionIndex::kAnyNumber, root_.unit));
}

// What a module registers when a field of it is assigned: parameters and modules.
std::optional<Registration::Kind> Registrations::registered_as(const State& state, const Value& given) const {
  std::optional<Registration::Kind> out;
  for (const Alternative& each : given) {
    const HeapObject* object =
        each.kind == Kind::kHandle || each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    // `nn.Parameter(...) if scales else 1`: of a number nothing is registered.
    if (each.kind == Kind::kNone || each.kind == Kind::kNumber) continue;
    if (!object) return std::nullopt;
    const bool parameter = each.kind == Kind::kHandle && object->type == kParameterType;
    const bool module = each.kind == Kind::kObject && is_module_type(object->type);
    if (!parameter && !module) return std::nullopt;
    const auto kind = parameter ? Registration::Kind::kParameter : Registration::Kind::kModule;
    if (out && *out != kind) return std::nullopt;
    out = kind;
  }
  return out;
}

}  // namespace dtype_guard::flow
