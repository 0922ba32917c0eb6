#include "analyzer/flow/engine/operations/list_parts.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/known_values.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// A bound as it is written, or what it is where it is left out; nothing where it, or a step, is computed.
std::optional<std::int64_t> bound(const State& state, const Instruction& instruction, std::string_view name,
                                  std::int64_t otherwise) {
  if (named(state, instruction, "computed")) return std::nullopt;
  const Value* given = named(state, instruction, name);
  if (!given) return otherwise;
  const Alternative* one = given->single();
  if (!one || one->kind != Kind::kNumber || !one->has_number) return std::nullopt;
  return one->number;
}

// What is registered in its own right are those of its modules that it keeps.
void keep_registered(HeapObject& part, const HeapObject& whole) {
  part.type = whole.type;
  part.kind = whole.kind;
  for (const Registration& each : whole.registered) {
    const bool stays = std::any_of(part.cells.begin(), part.cells.end(),
                                   [&](const auto& cell) { return cell.second == each.value; });
    if (stays) part.registered.change().push_back(each);
  }
}
}  // namespace

Key ListParts::position(const HeapObject* list, std::int64_t index) {
  if (index >= 0) return Key{Key::Kind::kIndex, index};
  const bool known = is_list(list) && is_counted(*list);
  const std::int64_t from_start = known ? static_cast<std::int64_t>(list->cells.size()) + index : -1;
  return from_start >= 0 ? Key{Key::Kind::kIndex, from_start} : Key{Key::Kind::kAny, 0};
}

std::optional<Value> ListParts::slice(const Activation& activation, const Instruction& instruction,
                                      const Alternative& list, int which, State& state) {
  const HeapObject* whole = state.find(list.object);
  if (!is_list(whole)) return std::nullopt;
  const bool is_of_modules = !whole->type.empty();
  const HeapId id = ids_.object(activation.context, &instruction, which);
  HeapObject out;
  out.kind = HeapObject::Kind::kContainer;
  const auto count = static_cast<std::int64_t>(whole->cells.size());
  const auto start = bound(state, instruction, "start", 0), stop = bound(state, instruction, "stop", count);
  if (is_counted(*whole) && start && stop) {
    const auto at = [&](std::int64_t index) {
      return std::clamp(index < 0 ? index + count : index, std::int64_t{0}, count);
    };
    std::vector<Value> kept;
    for (std::int64_t i = at(*start); i < at(*stop); ++i)
      kept.push_back(memory_.read(state, Location{list.object, {Key::Kind::kIndex, i}, list.symbols}));
    for (std::size_t i = 0; i < kept.size(); ++i)
      out.cells[{Key::Kind::kIndex, static_cast<std::int64_t>(i)}] = rounds_.kept_in(state, id, kept[i]);
    if (is_of_modules) keep_registered(out, *state.find(list.object));
  } else if (is_of_modules) {
    return Value(list);  // some of these
  } else if (count > 0 || !whole->rest.is_bottom()) {
    const Value any = memory_.read(state, Location{list.object, {Key::Kind::kAny, 0}, list.symbols});
    out.rest = rounds_.kept_in(state, id, any);
  }
  state.put(id, std::move(out));
  return Value(Alternative::at(Kind::kObject, id));
}

}  // namespace dtype_guard::flow
