#include "analyzer/flow/engine/conditions/class_tests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

std::optional<bool> is_one(const Alternative& each, std::string_view class_name,
                           const ClassHierarchy& classes, const State& state) {
  if (each.uncertain) return std::nullopt;
  switch (each.kind) {
    case Kind::kNone:
    case Kind::kString:
    case Kind::kDtype:
    case Kind::kClosure:
      return false;
    case Kind::kTensor:
      return each.handed_in ? std::nullopt : std::optional(false);
    case Kind::kNumber:
    case Kind::kBool:
      return each.assumed ? std::nullopt : std::optional(false);
    case Kind::kObject: {
      const HeapObject* object = state.find(each.object);
      if (!object || object->type.empty()) return std::nullopt;
      if (object->type == class_name) return true;
      const bool may_derive =
          classes.derives(object->type, class_name) || classes.derives(class_name, object->type);
      return may_derive ? std::nullopt : std::optional(false);
    }
    default:
      return std::nullopt;
  }
}
}  // namespace

std::optional<bool> is_instance(const Value& value, std::string_view class_name,
                                const ClassHierarchy& classes, const State& state) {
  if (value.is_bottom()) return std::nullopt;
  const std::optional<bool> first = is_one(*value.begin(), class_name, classes, state);
  const bool agree = std::all_of(value.begin(), value.end(), [&](const Alternative& each) {
    return is_one(each, class_name, classes, state) == first;
  });
  return agree ? first : std::nullopt;
}

bool are_other_objects(const Value& value, const ClassHierarchy& classes, const State& state) {
  return !value.is_bottom() && std::all_of(value.begin(), value.end(), [&](const Alternative& each) {
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    const bool is_instance = object && object->kind == HeapObject::Kind::kInstance && !object->type.empty();
    return is_instance && object->type != kDictionary &&
           !classes.derives(object->type, name_of(Named::kTensorClass));
  });
}

LeftByClass left_by_class(const Value& asked, std::string_view class_name, const ClassHierarchy& classes,
                          const State& state, bool wanted) {
  LeftByClass out;
  std::vector<Alternative> kept;
  for (const Alternative& each : asked) {
    if (is_one(each, class_name, classes, state).value_or(wanted) != wanted) continue;
    const bool is_hidden = wanted && each.kind != Kind::kObject;
    out.is_open = out.is_open || is_hidden;
    if (!is_hidden) kept.push_back(each);
  }
  out.kept = Value(std::move(kept));
  return out;
}

}  // namespace dtype_guard::flow
