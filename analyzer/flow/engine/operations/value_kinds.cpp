#include "analyzer/flow/engine/operations/value_kinds.h"

#include <algorithm>
#include <array>

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
enum class Is : std::uint8_t { kTensor, kNumber, kText, kFunction, kSequence, kList, kTuple, kDictionary };
struct KindQuestion {
  std::string_view name;
  Is is;
};
constexpr std::array<KindQuestion, 8> kQuestions = {{{"is_tensor", Is::kTensor},
                                                     {"is_number", Is::kNumber},
                                                     {"is_text", Is::kText},
                                                     {"is_function", Is::kFunction},
                                                     {"is_sequence", Is::kSequence},
                                                     {"is_list", Is::kList},
                                                     {"is_tuple", Is::kTuple},
                                                     {"is_dictionary", Is::kDictionary}}};

// Lists and tuples are not told apart; objects of a class may derive from any of these.
std::optional<bool> object_is(Is asked, const HeapObject* object) {
  if (!object || object->is_input) return std::nullopt;
  const bool is_list = object->kind == HeapObject::Kind::kContainer && object->type.empty();
  if (object->type == kDictionary) return asked == Is::kDictionary;
  if (!is_list) return std::nullopt;
  if (asked == Is::kList || asked == Is::kTuple) return std::nullopt;
  return asked == Is::kSequence;
}

std::optional<bool> is_one(Is asked, const Alternative& each, const State& state) {
  if (each.uncertain) return std::nullopt;
  switch (each.kind) {
    case Kind::kTensor:
      if (each.assumed || each.rank.wrapped) return std::nullopt;
      return asked == Is::kTensor;
    case Kind::kHandle:
      return asked == Is::kTensor;
    case Kind::kNumber:
    case Kind::kBool:
      if (each.assumed) return std::nullopt;
      return asked == Is::kNumber;
    case Kind::kString:
      return asked == Is::kText;
    case Kind::kNone:
    case Kind::kDtype:
      return false;
    case Kind::kClosure:
      return asked == Is::kFunction;
    case Kind::kObject:
      return object_is(asked, state.find(each.object));
    default:
      return std::nullopt;
  }
}
}  // namespace

std::optional<bool> is_of_kind(std::string_view question, const Value& value, const State& state) {
  const auto asked = std::find_if(kQuestions.begin(), kQuestions.end(),
                                  [&](const KindQuestion& each) { return each.name == question; });
  if (asked == kQuestions.end() || value.is_bottom()) return std::nullopt;
  const std::optional<bool> first = is_one(asked->is, *value.begin(), state);
  const bool agree = std::all_of(value.begin(), value.end(), [&](const Alternative& each) {
    return is_one(asked->is, each, state) == first;
  });
  return agree ? first : std::nullopt;
}

}  // namespace dtype_guard::flow
