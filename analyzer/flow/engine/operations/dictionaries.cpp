// Dictionaries: what stands under a key, where it is known which keys there are. Those that a root is handed
// are not: each is known by its name, and may be absent.
#include "analyzer/flow/engine/operations/dictionaries.h"

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/known_values.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// The text that an argument is, where it is one.
const std::string* text_of(const Activation& activation, const Instruction& instruction) {
  for (const Argument& each : instruction.args) {
    const Instruction* made = each.name == "index" ? activation.info.definition(each.value) : nullptr;
    if (made && made->op == Op::kConst) return std::get_if<std::string>(&made->constant);
  }
  return nullptr;
}
// Whether one of a list's elements is that text, where each of them is a known one.
std::optional<bool> is_among(const HeapObject& list, const std::string& text) {
  const Value wanted(Alternative::text(text));
  if (!is_counted(list)) return std::nullopt;
  bool found = false;
  for (const auto& [key, cell] : list.cells) {
    const std::optional<bool> is_it = compared_numbers("eq", cell, wanted);
    if (!is_it) return std::nullopt;
    found = found || *is_it;
  }
  return found;
}
}  // namespace

// What `otherwise` says holds where the key is not there. Of a dictionary that one way to here put more into
// than another that may be any of its keys. An input's key is there or not by one question,
// however it is asked; where what stands in for it is true, that it is false says that it was given.
Value Dictionaries::looked_up(const HeapObject& dictionary, HeapId id, const std::string& name,
                              const Value& otherwise) {
  if (const auto cell = dictionary.cells.find(ids_.field(name)); cell != dictionary.cells.end())
    return dictionary.may_be_shorter ? join(weakened(cell->second), weakened(otherwise), symbols_)
                                     : cell->second;
  if (!dictionary.is_input) return dictionary.rest.is_bottom() ? otherwise : Value::unknown();
  const bool stands_for_true = truth(otherwise) == std::optional(true);
  const HeapId known_by = dictionary.original ? dictionary.original : id;
  const Key key = ids_.field(stands_for_true ? name + "=" : name);
  return Value::unknown(ids_.of_field(Nature::kKeyword, known_by, key.id),
                        stands_for_true ? Truth::kOpposite : Truth::kSymbol);
}

// What stands under one of its keys, whichever: which of them, the key decides.
Value Dictionaries::one_of_dictionary(const HeapObject& dictionary, const Value& key) {
  if (dictionary.is_input || dictionary.cells.empty()) return Value::unknown();
  Value out;
  for (const auto& [name, cell] : dictionary.cells) out = join(out, cell, symbols_);
  // Of functions each may be meant, whatever others may stand there.
  if (!dictionary.rest.is_bottom()) {
    const bool are_functions = std::all_of(out.begin(), out.end(), [](const Alternative& each) {
      return each.kind == Alternative::Kind::kClosure;
    });
    if (!are_functions) return Value::unknown();
    out = join(out, dictionary.rest, symbols_);
  }
  if (out.size() == 1) return out;
  const SymbolSetId decides = symbols_of(key, symbols_);
  std::vector<Alternative> all = out.alternatives();
  // What else goes by that key is not known: what one of these does need not come to what another does.
  for (Alternative& each : all) {
    each.symbols = symbols_.unite(each.symbols, decides);
    each.uncertain =
        each.uncertain || each.kind == Alternative::Kind::kClosure || each.kind == Alternative::Kind::kObject;
  }
  return Value(std::move(all));
}

Key Dictionaries::named_by(const HeapObject& object, const Value& text) const {
  const Alternative* one = text.single();
  if (!one || one->kind != Kind::kString || !one->has_number) return {Key::Kind::kAny, 0};
  for (const auto& [key, cell] : object.cells) {
    const bool is_it =
        key.kind == Key::Kind::kField && Alternative::text(ids_.field_name(key.id)).number == one->number;
    if (is_it) return key;
  }
  return {Key::Kind::kAny, 0};
}

// Of an object that is known to have it; another may have got it elsewhere. Whether an unknown one has a
// field hangs on what that field is.
Value Dictionaries::attribute(const Activation& activation, const Instruction& instruction, State& state) {
  const bool asks = instruction.name == "attribute_has";
  const Alternative* one = argument(state, instruction, 0).single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  const std::string* name = text_of(activation, instruction);
  if (one && name && one->kind == Kind::kUnknown) {
    const Value field = ids_.field_of_unknown(*one, *name);
    return asks ? Value::unknown(field.single()->symbols) : field;
  }
  const SymbolSetId open = questions_.asked(activation, instruction, state);
  if (!object || !name) return Value::unknown(open);
  const auto cell = object->cells.find(ids_.field(*name));
  if (cell == object->cells.end()) return Value::unknown(open);
  if (!asks) return cell->second;
  return object->may_be_shorter ? Value::unknown(open) : Value(Alternative::boolean(true));
}

std::optional<Value> Dictionaries::dictionary_operation(const Activation& activation,
                                                        const Instruction& instruction, State& state) {
  const std::string& what = instruction.name;
  if (what == "attribute_get" || what == "attribute_has") return attribute(activation, instruction, state);
  const bool takes = what == "dict_pop", asks = what == "dict_has";
  if (what != "dict_get" && !takes && !asks) return std::nullopt;
  const SymbolSetId open = questions_.asked(activation, instruction, state);
  const Value& self = argument(state, instruction, 0);
  const Alternative* one = self.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  const std::string* name = text_of(activation, instruction);
  const auto among = asks && name && is_list(object) ? is_among(*object, *name) : std::nullopt;
  if (among) return Value(Alternative::boolean(*among));
  if (!object || object->type != kDictionary || !name) return Value::unknown(open);
  const bool was_there = object->cells.find(ids_.field(*name)) != object->cells.end();
  if (asks && was_there && object->may_be_shorter) return Value::unknown(open);
  if (asks && !object->is_input && object->rest.is_bottom()) return Value(Alternative::boolean(was_there));
  const Value* otherwise = named(state, instruction, "default");
  const Value out = looked_up(*object, one->object, *name, otherwise ? *otherwise : Value::none());
  if (asks) return out.single() && out.single()->truth == Truth::kSymbol ? out : Value::unknown(open);
  if (takes && was_there) state.change(one->object).cells.erase(ids_.field(*name));
  return out;
}

}  // namespace dtype_guard::flow
