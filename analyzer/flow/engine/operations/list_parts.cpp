#include "analyzer/flow/engine/operations/list_parts.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool is_list(const HeapObject* object) {
  return object && object->kind == HeapObject::Kind::kContainer && object->type.empty() &&
         object->stands == HeapObject::Stands::kForItself;
}

// Whether it is known how many elements there are, and which of them stands where.
bool is_counted(const HeapObject& list) {
  const auto count = static_cast<std::int64_t>(list.cells.size());
  return list.rest.is_bottom() && !list.may_be_shorter &&
         (count == 0 || (list.cells.begin()->first == Key{Key::Kind::kIndex, 0} &&
                         list.cells.last_key() == Key{Key::Kind::kIndex, count - 1}));
}

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
  } else if (count > 0 || !whole->rest.is_bottom()) {
    const Value any = memory_.read(state, Location{list.object, {Key::Kind::kAny, 0}, list.symbols});
    out.rest = rounds_.kept_in(state, id, any);
  }
  state.put(id, std::move(out));
  return Value(Alternative::at(Kind::kObject, id));
}

}  // namespace dtype_guard::flow
