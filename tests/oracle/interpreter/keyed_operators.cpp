// Operators of the interpreter on what is known by a key: dictionaries, elements of lists and tensors, texts.
#include <algorithm>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;

bool is_of_dictionary(std::string_view name) {
  return name == "dict_get" || name == "dict_pop" || name == "dict_has" || name == "dict_update";
}
}  // namespace

// The cell that a key is of: of a dictionary by its text, of a list by its number, from the end too.
std::string Machine::cell_of_key(const Object& whole, const Value& key) {
  if (whole.type == flow::kDictionary) {
    if (!key.is(Kind::kText)) throw Stop{End::kOpen, "a key that is no text"};
    return "." + key.text;
  }
  if (!key.is(Kind::kInteger)) throw Stop{End::kOpen, "an index that is no number"};
  const auto count = static_cast<std::int64_t>(whole.count());
  const std::int64_t at = key.number < 0 ? key.number + count : key.number;
  if (at < 0 || at >= count) throw Stop{End::kThrew, "no such element"};
  return "[" + std::to_string(at) + "]";
}

// What a key that is not there gives is stated, or none; a pop of it without that throws.
Value Machine::dictionary_operation(const Frame& frame, const Instruction& each, const Value& dictionary) {
  if (each.name == "dict_update") {
    const Value other = behind(*named(frame, each, "other"));
    if (!other.is(Kind::kObject)) throw Stop{End::kOpen, "no dictionary"};
    const auto added = objects_[other.id].cells;
    for (const auto& [key, cell] : added) objects_[dictionary.id].cells[key] = cell;
    return Value::of(Kind::kNone);
  }
  auto& cells = objects_[dictionary.id].cells;
  const auto cell = cells.find(cell_of_key(objects_[dictionary.id], behind(*named(frame, each, "index"))));
  if (each.name == "dict_has") return Value::boolean(cell != cells.end());
  const Value* otherwise = named(frame, each, "default");
  if (cell == cells.end()) {
    if (!otherwise && each.name == "dict_pop") throw Stop{End::kThrew, "no such key"};
    return otherwise ? *otherwise : Value::of(Kind::kNone);
  }
  const Value out = cell->second;
  if (each.name == "dict_pop") cells.erase(cell);
  return out;
}

// Of a tensor an index takes one dimension away, a slice none.
Value Machine::part_of_tensor(const Instruction& each, const Value& whole, bool is_slice) {
  Tensor out = tensor_of(whole);
  if (out.is_buffer || out.is_number) throw Stop{End::kOpen, "a part of what is no tensor"};
  if (out.rank == 0) throw Stop{End::kThrew, "a part of a tensor without dimensions"};
  if (!is_slice) --out.rank;
  out.shape = ++shapes_;
  out.descent.set(line_of(each));
  out.supply.set(line_of(each));
  return make(std::move(out));
}

bool Machine::keyed_operation(const Frame& frame, const Instruction& each, Value& out) {
  const bool stores = each.name == "store_element";
  if (!stores && each.name != "subscript" && !is_of_dictionary(each.name)) return false;
  const Value whole = behind(argument(frame, each, 0));
  if (whole.is(Kind::kNone)) throw Stop{End::kThrew, "none has no elements"};
  if (is_of_dictionary(each.name)) {
    if (!whole.is(Kind::kObject) || objects_[whole.id].type != flow::kDictionary)
      throw Stop{End::kOpen, "no dictionary"};
    out = dictionary_operation(frame, each, whole);
    return true;
  }
  const Value* index = named(frame, each, "index");
  const Value* key = index ? index : named(frame, each, "key");
  if (whole.is(Kind::kTensor) && !stores) {
    const bool is_slice = named(frame, each, "slice") != nullptr;
    if (!is_slice && !key) throw Stop{End::kOpen, "a part that nothing names"};
    out = part_of_tensor(each, whole, is_slice);
    return true;
  }
  if (!whole.is(Kind::kObject) || !key) throw Stop{End::kOpen, "an element of what has none"};
  const std::string cell = cell_of_key(objects_[whole.id], behind(*key));
  auto& cells = objects_[whole.id].cells;
  if (stores) {
    cells[cell] = *named(frame, each, "value");
    out = Value::of(Kind::kNone);
    return true;
  }
  const auto found = cells.find(cell);
  if (found == cells.end()) throw Stop{End::kThrew, "no such key"};
  out = found->second;
  return true;
}

// Of two texts or two numbers.
bool Machine::compared_operation(const Frame& frame, const Instruction& each, Value& out) const {
  const auto given = [&](std::size_t at) -> const Value& { return behind(argument(frame, each, at)); };
  if (each.name == flow::kTextOrder) {
    out = Value::integer(given(0).text.compare(given(1).text));
  } else if (each.name == flow::kTextLength) {
    out = Value::integer(static_cast<std::int64_t>(given(0).text.size()));
  } else if (each.name == flow::kSmallerOf) {
    out = Value::integer(std::min(given(0).number, given(1).number));
  } else if (each.name == flow::kLargerOf) {
    out = Value::integer(std::max(given(0).number, given(1).number));
  } else if (each.name == flow::kLoopEntered) {
    if (!truth(given(0))) throw Stop{End::kAssumedAway, "a loop is not entered"};
    out = Value::boolean(true);
  } else {
    return false;
  }
  return true;
}

}  // namespace dtype_guard::oracle
