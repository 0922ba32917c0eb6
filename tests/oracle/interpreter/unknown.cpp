// Code that is not there: it gives back any value of its type, and does anything to what it gets by
// reference. Its name says which type: "any_tensor", "any_bool", "any_integer", "any_dtype", "any_optional".
#include <algorithm>
#include <array>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;
constexpr std::array kDtypes = {Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16, Dtype::kInt64};
constexpr int kMostNested = 4;
}  // namespace

Value Machine::unknown_value(const std::string& name, const Instruction& each) {
  if (name.starts_with("any_bool")) return Value::boolean(choices_.pick(2) != 0);
  if (name.starts_with("any_integer")) return Value::integer(static_cast<std::int64_t>(choices_.pick(3)));
  if (name.starts_with("any_dtype")) return Value::a_dtype(kDtypes[choices_.pick(kDtypes.size())]);
  if (name.starts_with("any_optional") && choices_.pick(2)) return Value::of(Kind::kNone);
  return make(fresh(kDtypes[choices_.pick(kDtypes.size())], 2, &each));
}

Value Machine::unknown_call(Frame& frame, const Instruction& each) {
  for (std::size_t i = 0; i < each.args.size(); ++i) {
    if (is_closure(argument(frame, each, i))) run_some_day(argument(frame, each, i));
  }
  for (std::size_t i = 0; i < each.args.size(); ++i) change_anything(argument(frame, each, i), each, 0);
  return each.result ? unknown_value(each.name, each) : Value();
}

// A tensor that a module owns is converted in place, and stays where it is.
void Machine::change_owned(const Value& owned, const Instruction& each) {
  Tensor& tensor = tensors_[owned.id];
  if (tensor.is_buffer || !choices_.pick(2)) return;
  const Value like = unknown_value("any_tensor", each);
  Tensor& changed = tensors_[owned.id];
  if (changed.is_of_setting && !changed.is_stated && changed.dtype != tensors_[like.id].dtype)
    violated_ = "code that is not there converts the module of a root, of which the setting says what it is";
  changed.dtype = tensors_[like.id].dtype;
  changed.descent = changed.supply = tensors_[like.id].descent;
  changed.is_promoted = false;
}

// It may leave everything as it is; where it does not, each tensor that it reaches is replaced, and what a
// module that it reaches registered is converted. What another module registered it does not convert.
void Machine::change_anything(const Value& value, const Instruction& each, int depth) {
  if (depth > kMostNested) return;
  const auto registered =
      value.is(Kind::kObject) ? objects_[value.id].registered : std::vector<Object::Registered>();
  const auto replaced = [&](Value& cell) {
    const Value held = cell;
    if (held.is(Kind::kTensor)) {
      tensors_[held.id].has_escaped = true;
      const bool is_owned_here = std::any_of(registered.begin(), registered.end(), [&](const auto& below) {
        return below.value.is(Kind::kTensor) && below.value.id == held.id;
      });
      if (is_owned_here) return change_owned(held, each);
      if (!tensors_[held.id].is_buffer && choices_.pick(2)) cell = unknown_value("any_tensor", each);
    } else if (held.is(Kind::kBool)) {
      cell = Value::boolean(choices_.pick(2) != 0);
    } else {
      change_anything(held, each, depth + 1);
    }
  };
  if (value.is(Kind::kReference)) {
    Value cell = read({value.id, value.text});
    replaced(cell);
    objects_[value.id].cells[value.text] = cell;
  }
  if (value.is(Kind::kTensor)) {
    tensors_[value.id].has_escaped = true;
    if (depth > 0) change_owned(value, each);
  }
  if (!value.is(Kind::kObject)) return;
  for (const Object::Registered& below : registered) change_anything(below.value, each, depth + 1);
  Cells cells = objects_[value.id].cells;
  for (auto& [key, cell] : cells) {
    replaced(cell);
    objects_[value.id].cells[key] = cell;
  }
}

}  // namespace dtype_guard::oracle
