#include "analyzer/flow/engine/calls/list_methods.h"

#include <algorithm>
#include <array>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/known_values.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
using Elements = std::vector<Value>;
enum class Does : std::uint8_t { kTakesOut, kPutsIn, kEmpties };
struct Method {
  std::string_view name;
  Does does;
};
constexpr std::array<Method, 3> kMethods = {
    {{"pop", Does::kTakesOut}, {"insert", Does::kPutsIn}, {"clear", Does::kEmpties}}};

void put(HeapObject& list, const Elements& elements) {
  std::vector<Key> places;
  for (const auto& [key, cell] : list.cells) places.push_back(key);
  for (const Key& each : places) list.cells.erase(each);
  for (std::size_t i = 0; i < elements.size(); ++i)
    list.cells[{Key::Kind::kIndex, static_cast<std::int64_t>(i)}] = elements[i];
}

// Where it may stand: counted from the end where it is negative, the last where nothing is said.
std::optional<std::size_t> place(const Instruction& call, const State& state, std::size_t count) {
  if (call.args.size() < 2) return count - 1;
  const Alternative* at = argument(state, call, 1).single();
  if (!at || at->kind != Kind::kNumber || at->dtype != Dtype::kInt64 || !at->has_number) return std::nullopt;
  const std::int64_t index = at->number < 0 ? at->number + static_cast<std::int64_t>(count) : at->number;
  const bool is_there = index >= 0 && index <= static_cast<std::int64_t>(count);
  return is_there ? std::optional(static_cast<std::size_t>(index)) : std::nullopt;
}

// Of a list of which nothing more is known than what any element is.
void open(HeapObject& list, const Value& any) {
  put(list, {});
  list.rest = any;
  list.may_be_shorter = true;
}
}  // namespace

std::optional<Value> list_method(const Instruction& call, State& state, Memory& memory,
                                 const Registrations& registrations, SymbolSets& symbols,
                                 const Identities& ids) {
  const std::string_view called = std::string_view(call.name).substr(kAttributeCall.size());
  const auto* method =
      std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& each) { return each.name == called; });
  const Alternative* one = method == kMethods.end() ? nullptr : argument(state, call, 0).single();
  const HeapObject* list = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (list && list->type == kDictionary && method->does == Does::kTakesOut && call.args.size() == 2) {
    state.change(one->object).may_be_shorter = true;  // which of its keys is not known
    return Value::unknown(symbols_of(argument(state, call, 1), symbols));
  }
  if (!is_list(list) || (list->cells.empty() && list->rest.is_bottom())) return std::nullopt;
  const bool puts_in = method->does == Does::kPutsIn;
  if ((call.args.size() > 2) != puts_in) return std::nullopt;
  const Value given = puts_in ? argument(state, call, 2) : Value();
  for (const Alternative& each : list->type.empty() ? Value() : given) {
    const HeapObject* part = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (part && registrations.is_module_type(part->type))
      registrations.enter(one->object, {Registration::Kind::kModule, "", Value(each)}, state);
  }
  const Value any = memory.read(state, Location{one->object, {Key::Kind::kAny, 0}});
  HeapObject& changed = state.change(one->object);
  const bool is_known = is_counted(changed) && !ids.stands_for_several(one->object);
  const auto at = is_known ? place(call, state, changed.cells.size()) : std::nullopt;
  if (method->does == Does::kEmpties && is_known) {
    put(changed, {});
    return Value::none();
  }
  Elements elements;
  for (const auto& [key, cell] : changed.cells) elements.push_back(cell);
  if (!at || (!puts_in && *at >= elements.size())) {
    open(changed, puts_in ? join(any, weakened(given), symbols) : any);
    return puts_in ? Value::none() : any;
  }
  const auto where = elements.begin() + static_cast<std::ptrdiff_t>(*at);
  const Value taken = puts_in ? Value::none() : *where;
  if (puts_in) {
    elements.insert(where, given);
  } else {
    elements.erase(where);
  }
  put(changed, elements);
  return taken;
}

}  // namespace dtype_guard::flow
