// Places: where a path leads from a variable or a value, along fields and cells.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/state/as_made.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxPointers = 8;  // followed in a row
}  // namespace

Target Memory::resolve(const Activation& activation, const State& state, const Place& place) {
  Target current;
  if (place.base) {
    for (const Alternative& each : value(state, place.base)) {
      if (each.kind == Kind::kReference) {
        current.locations.push_back({each.object, each.key, each.symbols});
      } else {
        current.direct = join(current.direct, Value(each), symbols_);
      }
    }
  } else {
    current.locations.push_back({activation.frame, {Key::Kind::kVariable, place.variable}});
  }
  for (const Place::Step& step : place.path) {
    const Value contents = read(state, current);
    Target next;
    for (const Alternative& each : contents) follow(state, each, step, next, 0);
    current = std::move(next);
  }
  return current;
}

void Memory::follow(const State& state, const Alternative& from, const Place::Step& step, Target& out,
                    int depth) {
  const bool is_field = step.kind == Place::Step::Kind::kField;
  switch (from.kind) {
    case Kind::kObject:
    case Kind::kClosure: {
      const Key key = is_field                                    ? ids_.field(step.field)
                      : step.kind == Place::Step::Kind::kAnyCell  ? Key{Key::Kind::kAny, 0}
                      : step.kind == Place::Step::Kind::kNextCell ? Key{Key::Kind::kNext, 0}
                                                                  : Key{Key::Kind::kIndex, step.cell};
      out.locations.push_back({from.object, key, from.symbols});
      return;
    }
    case Kind::kReference:
      if (depth < kMaxPointers) {
        for (const Alternative& each : read(state, Location{from.object, from.key})) {
          follow(state, each, step, out, depth + 1);
        }
        return;
      }
      break;
    case Kind::kTensor:
    case Kind::kHandle:
      if (is_field && step.field == "dtype") {
        for (const Alternative& each : tensors(state, Value(from))) {
          const bool known = each.kind == Kind::kTensor;
          out.direct =
              join(out.direct, Value(Alternative::a_dtype(known ? each.dtype : Dtype::kUndefined)), symbols_);
        }
        return;
      }
      if (is_field && !is_named(Named::kSameTensor, step.field)) break;
      out.direct = join(out.direct, Value(from), symbols_);
      out.element = out.element || !is_field;
      return;
    case Kind::kNone:
      return;  // nothing lies behind a null pointer
    case Kind::kUnknown:
      if (!is_field) break;
      out.direct = join(out.direct, ids_.field_of_unknown(from, step.field), symbols_);
      return;
    default:
      break;
  }
  out.direct = join(out.direct, Value::unknown(from.symbols), symbols_);
}

Value Memory::load(const Activation& activation, const Instruction& instruction, const State& state) {
  const Target target = resolve(activation, state, instruction.place);
  if (!target.element) {
    const Value out = read(state, target);
    return out.is_bottom() ? Value::unknown(questions_.asked(activation, instruction, state)) : out;
  }
  std::vector<Alternative> out;
  for (Alternative each : tensors(state, target.direct)) {
    const bool of_buffer =
        std::any_of(target.direct.begin(), target.direct.end(), [&](const Alternative& direct) {
          const HeapObject* object = direct.kind == Kind::kHandle ? state.find(direct.object) : nullptr;
          return object && object->kind == HeapObject::Kind::kBuffer;
        });
    each.rank = of_buffer || each.rank.wrapped ? Rank::number() : each.rank.plus(-1);
    out.push_back(each);
  }
  return join(Value(std::move(out)), Value(), symbols_);
}

Value Memory::address(const Activation& activation, const Instruction& instruction, const State& state) {
  const Target target = resolve(activation, state, instruction.place);
  Value out = target.direct;
  for (const Location& each : target.locations) {
    out = join(out, Value(Alternative::at(Kind::kReference, each.object, each.key)), symbols_);
  }
  return out.is_bottom() ? Value::unknown(questions_.asked(activation, instruction, state)) : out;
}

// Not where what is in it differs: what takes the list would take every combination.
void Memory::list_elements(const Activation& activation, State& state, const Place& place) {
  if (place.path.empty() || place.path.back().kind != Place::Step::Kind::kCell) return;
  const std::int64_t last = place.path.back().cell;
  Place list = place;
  list.path.pop_back();
  const Value held = read(state, resolve(activation, state, list));
  const Alternative* one = held.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  const bool is_open = object && object->kind == HeapObject::Kind::kContainer && object->rest.single() &&
                       object->stands == HeapObject::Stands::kForItself;
  if (!is_open || last < 0 || last >= kMaxListed) return;
  HeapObject& changed = state.change(one->object);
  for (std::int64_t i = 0; i <= last; ++i) {
    const bool is_new = changed.cells.try_emplace({Key::Kind::kIndex, i}, changed.rest).second;
    if (is_new && changed.more > 0) --changed.more;
  }
}

}  // namespace dtype_guard::flow
