// Things with identity: instances, containers, closures, library modules, and tensors that several handles
// share.
#include "analyzer/flow/engine/memory/objects.h"

#include <algorithm>
#include <map>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/settings/module_types.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxNesting = 3;             // containers of containers that are copied with what they hold
constexpr std::size_t kMostCopied = 4096;  // modules and tensors of one deep copy
// int(True), len([a, b])
std::optional<std::int64_t> known_number(const Instruction& instruction, const State& state,
                                         const Identities& ids) {
  if (const Value* list = named(state, instruction, "length")) {
    const auto count = count_of(*list, state, ids);
    return count ? std::optional(static_cast<std::int64_t>(*count)) : std::nullopt;
  }
  const bool is_value = instruction.args.size() == 2 && instruction.args[1].name.empty();
  const Alternative* from = is_value ? argument(state, instruction, 1).single() : nullptr;
  const bool counts = from && (from->kind == Kind::kBool || from->kind == Kind::kNumber);
  return counts && from->has_number && from->dtype != Dtype::kFloat64 ? std::optional(from->number)
                                                                      : std::nullopt;
}
}  // namespace

Value Objects::allocate(const Activation& activation, const Instruction& instruction, State& state) {
  const HeapId id = ids_.object(activation.context, &instruction);
  HeapObject object;
  object.type = instruction.name;
  object.symbols = questions_.asked(activation, instruction, state);
  if (instruction.op == Op::kObject) {
    sightings_.note_object(id, object.type, {activation.function, &instruction});
    state.put(id, std::move(object));
    return Value(Alternative::at(Kind::kObject, id));
  }
  if (const Value* dtype = named(state, instruction, "dtype")) {
    Value contents;
    for (const Alternative& each : *dtype) {
      const Dtype element = each.kind == Kind::kDtype ? each.dtype : Dtype::kUndefined;
      Alternative tensor = Alternative::tensor(element, Rank::at_least(1));
      if (element != Dtype::kUndefined) {
        tensor.origin = origins_.origin({Origin::Kind::kSource, activation.function, &instruction,
                                         instruction.name, Dtype::kUndefined, element, false, 0, ""});
        tensor.trail = origins_.step(0, tensor.origin,
                                     {0, 0, activation.function, &instruction, instruction.name,
                                      Dtype::kUndefined, element, "allocated"});
      }
      contents = join(contents, Value(tensor), symbols_);
    }
    if (instruction.name == "number") {  // never written to: no object, of which there would be thousands
      std::vector<Alternative> numbers(contents.begin(), contents.end());
      // Of a whole number it decides; a floating one is there on any path.
      const bool whole = std::all_of(numbers.begin(), numbers.end(),
                                     [](const Alternative& each) { return !is_floating(each.dtype); });
      SymbolSetId symbols = whole ? questions_.asked(activation, instruction, state) : 0;
      for (std::size_t i = 1; whole && i < instruction.args.size(); ++i)  // what it was computed from
        symbols = symbols_.unite(symbols, symbols_of(argument(state, instruction, i), symbols_));
      const std::optional<std::int64_t> known = whole ? known_number(instruction, state, ids_) : std::nullopt;
      if (known) numbers.assign(1, Alternative::integer(*known));
      for (Alternative& each : numbers) {
        each.rank = Rank::number();
        each.symbols = symbols;
      }
      return Value(std::move(numbers));
    }
    return memory_.shared_tensor(id, HeapObject::Kind::kBuffer, contents, state, true);
  }
  object.kind = HeapObject::Kind::kContainer;
  state.put(id, std::move(object));
  return Value(Alternative::at(Kind::kObject, id));
}

Value Objects::pack(const Activation& activation, const Instruction& instruction, State& state) {
  const HeapId id = ids_.object(activation.context, &instruction);
  HeapObject object;
  object.kind = HeapObject::Kind::kContainer;
  // Behind a list of unknown length it is not known which place it is.
  const auto add = [&](const Value& element) {
    const Key place{Key::Kind::kIndex, static_cast<std::int64_t>(object.cells.size())};
    const Value held = rounds_.kept_in(state, id, element);
    if (object.rest.is_bottom()) {
      object.cells[place] = held;
    } else {
      object.rest = join(object.rest, held, symbols_);
      ++object.more;
    }
  };
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Value given = argument(state, instruction, i);
    if (instruction.args[i].name != "*") {
      add(given);
      continue;
    }
    const Alternative* one = given.single();
    const HeapObject* list = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
    if (!list || list->kind != HeapObject::Kind::kContainer ||
        list->stands != HeapObject::Stands::kForItself) {
      object.rest = Value::unknown();
      continue;
    }
    const HeapObject spread = *list;
    for (const auto& [key, element] : spread.cells) add(element);
    object.may_be_shorter = object.may_be_shorter || spread.may_be_shorter;
    object.more += spread.more;
    if (!spread.rest.is_bottom())
      object.rest = object.rest.is_bottom() ? spread.rest : join(object.rest, spread.rest, symbols_);
  }
  state.put(id, std::move(object));
  return Value(Alternative::at(Kind::kObject, id));
}

// A copy of a container or of a plain object: what is done to the one is not done to the other.
Value Objects::copy_of(const Activation& activation, const Instruction& instruction, State& state) {
  Value out;
  int sub = 0;
  const Value original = argument(state, instruction, 0);
  for (const Alternative& each : original) {
    out = join(out, Value(cloned(each, activation.context, &instruction, sub, state, 0)), symbols_);
  }
  return out.is_bottom() ? original : out;
}

Alternative Objects::cloned(const Alternative& original, ContextId context, const Instruction* site, int& sub,
                            State& state, int depth) {
  const HeapObject* object = original.kind == Kind::kObject ? state.find(original.object) : nullptr;
  const bool container = object && object->kind == HeapObject::Kind::kContainer;
  if (!container && !(object && object->kind == HeapObject::Kind::kInstance && depth == 0)) return original;
  if (depth > kMaxNesting) return original;
  HeapObject fresh = *object;
  if (!fresh.original) fresh.original = original.object;
  const HeapId copy = ids_.object(context, site, ++sub);
  if (!fresh.rest.is_bottom()) fresh.rest = rounds_.kept_in(state, copy, fresh.rest);
  for (auto& [key, cell] : fresh.cells) {
    Value inner;
    const Value held = rounds_.kept_in(state, copy, cell);
    cell = held;
    for (const Alternative& each : held) {
      inner = join(inner, Value(cloned(each, context, site, sub, state, depth + 1)), symbols_);
    }
    if (!inner.is_bottom() && !(inner == held)) cell = inner;
  }
  Alternative out = original;
  out.object = copy;
  state.put(copy, std::move(fresh));
  return out;
}

// With all that it holds, modules and their tensors among it; what is there by two names is copied once.
// Functions stay, and so does everything where it is too much to copy.
Value Objects::deep_copy_of(const Activation& activation, const Instruction& instruction, State& state) {
  const Value original = argument(state, instruction, 0);
  std::map<HeapId, HeapId> copies;
  std::vector<HeapId> work;
  const auto copied = [&](const Alternative& each) {
    const HeapObject* object = each.object ? state.find(each.object) : nullptr;
    const bool is_data = object && object->kind != HeapObject::Kind::kFrame &&
                         object->kind != HeapObject::Kind::kClosure && each.kind != Kind::kClosure;
    if (!is_data) return each;
    const auto [known, fresh] = copies.try_emplace(each.object, 0);
    if (fresh) {
      known->second = ids_.object(activation.context, &instruction, static_cast<int>(copies.size()));
      work.push_back(each.object);
    }
    Alternative out = each;
    out.object = known->second;
    return out;
  };
  const auto all_copied = [&](const Value& value) {
    std::vector<Alternative> out;
    for (const Alternative& each : value) out.push_back(copied(each));
    return join(Value(std::move(out)), Value(), symbols_);
  };
  const Value out = all_copied(original);
  while (!work.empty()) {
    if (copies.size() > kMostCopied) return Value::unknown();
    const HeapId next = work.back();
    work.pop_back();
    HeapObject fresh = *state.find(next);
    const HeapId copy = copies.at(next);
    for (auto& [key, cell] : fresh.cells) cell = rounds_.kept_in(state, copy, all_copied(cell));
    if (!fresh.rest.is_bottom()) fresh.rest = rounds_.kept_in(state, copy, all_copied(fresh.rest));
    if (!fresh.registered.empty()) {
      for (Registration& each : fresh.registered.change()) each.value = all_copied(each.value);
    }
    state.put(copy, std::move(fresh));
  }
  return out.is_bottom() ? original : out;
}

// The object keeps its identity and holds what the other one holds.
void Objects::overwrite_object(const Instruction& instruction, State& state) {
  const Alternative* target = argument(state, instruction, 0).single();
  const Alternative* source = argument(state, instruction, 1).single();
  const HeapObject* to = target && target->kind == Kind::kObject ? state.find(target->object) : nullptr;
  const HeapObject* from = source && source->kind == Kind::kObject ? state.find(source->object) : nullptr;
  if (!to || !from) return memory_.havoc(state, argument(state, instruction, 0));
  HeapObject replaced = *to;
  replaced.cells = from->cells;
  replaced.rest = from->rest;
  replaced.is_input = from->is_input;
  replaced.nature = from->nature;
  replaced.original = from->original ? from->original : source->object;
  for (auto& [key, cell] : replaced.cells) cell = rounds_.kept_in(state, target->object, cell);
  if (!replaced.rest.is_bottom()) replaced.rest = rounds_.kept_in(state, target->object, replaced.rest);
  state.put(target->object, std::move(replaced));
}

Value Objects::closure(const Activation& activation, const Instruction& instruction, State& state) {
  const auto& functions = index_.find(instruction.name);
  if (functions.empty()) return Value::unknown(questions_.asked(activation, instruction, state));
  constexpr ContextId kAnywhere = 0;
  constexpr int kFunction = 1;
  const Function& code = index_.function(functions.front());
  // What stands for an operator or call of the tables is one value wherever it is named.
  const bool is_one = instruction.args.empty() && code.foreign && !stands_for_class(code);
  const HeapId id =
      is_one ? ids_.object(kAnywhere, &code, kFunction) : ids_.object(activation.context, &instruction);
  HeapObject object;
  object.kind = HeapObject::Kind::kClosure;
  for (const Argument& each : instruction.args)
    object.cells[ids_.field(each.name)] = rounds_.kept_in(state, id, value(state, each.value));
  state.put(id, std::move(object));
  Alternative out = Alternative::at(Kind::kClosure, id);
  out.function = functions.front();
  return Value(out);
}

Value Objects::library_module(const Activation& activation, const Instruction& instruction, State& state) {
  const HeapId id = ids_.object(activation.context, &instruction);
  HeapObject object;
  object.type = instruction.name;
  object.symbols = ids_.symbol(activation.context, &instruction);
  if (const ModuleType* type = find_module_type(instruction.name)) {
    int sub = 0;
    const auto add = [&](const ModuleType::Tensor& tensor, Registration::Kind kind) {
      const Value contents(Alternative::tensor(state.default_dtype, Rank::exactly(tensor.rank)));
      const Value handle = memory_.shared_tensor(ids_.object(activation.context, &instruction, ++sub),
                                                 HeapObject::Kind::kTensor, contents, state);
      object.cells[ids_.field(tensor.name)] = handle;
      object.registered.change().push_back({kind, tensor.name, handle});
    };
    for (const auto& each : type->parameters) add(each, Registration::Kind::kParameter);
    for (const auto& each : type->buffers) add(each, Registration::Kind::kBuffer);
  }
  state.put(id, std::move(object));
  return Value(Alternative::at(Kind::kObject, id));
}

void Objects::write_elements(const Activation& activation, const Instruction& instruction, State& state) {
  Value target = argument(state, instruction, 0);
  for (int depth = 0; depth < 4; ++depth) {
    const Alternative* one = target.single();
    if (!one || one->kind != Kind::kReference) break;
    target = memory_.read(state, Location{one->object, one->key});
  }
  write_into(activation, instruction, target, argument(state, instruction, 1), state);
}

// A buffer remembers of what it was given where half data was widened.
void Objects::write_into(const Activation& activation, const Instruction& instruction, const Value& target,
                         const Value& given, State& state) {
  const std::vector<Alternative> written = memory_.tensors(state, given);
  for (const Alternative& each : target) {
    const HeapObject* object = each.kind == Kind::kHandle ? state.find(each.object) : nullptr;
    if (!object || object->kind != HeapObject::Kind::kBuffer) continue;  // a tensor keeps its dtype
    Value contents;
    for (Alternative element : object->cells.at(HeapObject::kContents)) {
      for (const Alternative& from : written) {
        const Origin* origin = origins_.find(from.origin);
        const bool tells = origin && (origin->kind == Origin::Kind::kPromotion || origin->widens_half());
        if (from.kind != Kind::kTensor || from.dtype != element.dtype || !tells) continue;
        element.origin = from.origin;
        element.trail = origins_.step(from.trail, from.origin,
                                      {0, 0, activation.function, &instruction, "store", from.dtype,
                                       element.dtype, "stored in a buffer of that type"});
      }
      contents = join(contents, Value(element), symbols_);
    }
    state.change(each.object).cells[HeapObject::kContents] = contents;
  }
}

}  // namespace dtype_guard::flow
