// Operators of the interpreter on what is known by a key: dictionaries, elements of lists and tensors, texts.
#include <algorithm>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;

bool is_of_dictionary(What what) {
  return what == What::kDictGet || what == What::kDictPop || what == What::kDictHas ||
         what == What::kDictUpdate;
}
}  // namespace

// The cell that a key is of: of a dictionary by its text, of a list by its number, from the end too.
Symbol Machine::cell_of_key(const Object& whole, const Value& key) {
  if (whole.type == flow::kDictionary) {
    if (!key.is(Kind::kText)) throw Stop{End::kOpen, "a key that is no text"};
    return cell_of_field(key.text.view());
  }
  if (!key.is(Kind::kInteger)) throw Stop{End::kOpen, "an index that is no number"};
  const auto count = static_cast<std::int64_t>(whole.count());
  const std::int64_t at = key.number < 0 ? key.number + count : key.number;
  if (at < 0 || at >= count) throw Stop{End::kThrew, "no such element"};
  return cell_of_element(static_cast<std::size_t>(at));
}

// What a key that is not there gives is stated, or none; a pop of it without that throws.
Value Machine::dictionary_operation(const Frame& frame, const Prepared& prepared, const Value& dictionary) {
  const Instruction& each = *prepared.instruction;
  if (prepared.what == What::kDictUpdate) {
    const Value other = behind(*named(frame, each, "other"));
    if (!other.is(Kind::kObject)) throw Stop{End::kOpen, "no dictionary"};
    const auto added = objects_[other.id].cells;
    for (const auto& [key, cell] : added) objects_[dictionary.id].cells[key] = cell;
    return Value::of(Kind::kNone);
  }
  Cells& cells = objects_[dictionary.id].cells;
  const Symbol key = cell_of_key(objects_[dictionary.id], behind(*named(frame, each, "index")));
  const Value* cell = cells.find(key);
  if (prepared.what == What::kDictHas) return Value::boolean(cell != nullptr);
  const Value* otherwise = named(frame, each, "default");
  if (!cell) {
    if (!otherwise && prepared.what == What::kDictPop) throw Stop{End::kThrew, "no such key"};
    return otherwise ? *otherwise : Value::of(Kind::kNone);
  }
  const Value out = *cell;
  if (prepared.what == What::kDictPop) cells.erase(key);
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

Value Machine::keyed_operation(const Frame& frame, const Prepared& prepared) {
  const Instruction& each = *prepared.instruction;
  const bool stores = prepared.what == What::kStoreElement;
  const Value whole = behind(argument(frame, each, 0));
  if (whole.is(Kind::kNone)) throw Stop{End::kThrew, "none has no elements"};
  if (is_of_dictionary(prepared.what)) {
    if (!whole.is(Kind::kObject) || !(objects_[whole.id].type == flow::kDictionary))
      throw Stop{End::kOpen, "no dictionary"};
    return dictionary_operation(frame, prepared, whole);
  }
  const Value* index = named(frame, each, "index");
  const Value* key = index ? index : named(frame, each, "key");
  if (whole.is(Kind::kTensor) && !stores) {
    const bool is_slice = named(frame, each, "slice") != nullptr;
    if (!is_slice && !key) throw Stop{End::kOpen, "a part that nothing names"};
    return part_of_tensor(each, whole, is_slice);
  }
  if (!whole.is(Kind::kObject) || !key) throw Stop{End::kOpen, "an element of what has none"};
  const Symbol cell = cell_of_key(objects_[whole.id], behind(*key));
  Cells& cells = objects_[whole.id].cells;
  if (stores) {
    const Value value = *named(frame, each, "values");
    cells[cell] = value;
    return Value::of(Kind::kNone);
  }
  const Value* found = cells.find(cell);
  if (!found) throw Stop{End::kThrew, "no such key"};
  return *found;
}

// Of two texts or two numbers.
Value Machine::compared_operation(const Frame& frame, const Prepared& prepared) const {
  const auto given = [&](std::size_t at) -> const Value& {
    return behind(argument(frame, *prepared.instruction, at));
  };
  switch (prepared.what) {
    case What::kTextOrder:
      return Value::integer(given(0).text.view().compare(given(1).text.view()));
    case What::kTextLength:
      return Value::integer(static_cast<std::int64_t>(given(0).text.view().size()));
    case What::kSmallerOf:
      return Value::integer(std::min(given(0).number, given(1).number));
    case What::kLargerOf:
      return Value::integer(std::max(given(0).number, given(1).number));
    default:
      if (!truth(given(0))) throw Stop{End::kAssumedAway, "a loop is not entered"};
      return Value::boolean(true);
  }
}

}  // namespace dtype_guard::oracle
