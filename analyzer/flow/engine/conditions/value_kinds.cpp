#include "analyzer/flow/engine/conditions/value_kinds.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/held_values.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
enum class Is : std::uint8_t {
  kTensor,
  kNumber,
  kWhole,
  kReal,
  kText,
  kFunction,
  kSequence,
  kList,
  kTuple,
  kDictionary
};
struct KindQuestion {
  std::string_view name;
  Is is;
};
constexpr std::array<KindQuestion, 10> kQuestions = {{{"is_tensor", Is::kTensor},
                                                      {"is_number", Is::kNumber},
                                                      {"is_whole", Is::kWhole},
                                                      {"is_real", Is::kReal},
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
      if (each.handed_in || each.rank.wrapped) return std::nullopt;
      return asked == Is::kTensor;
    case Kind::kHandle:
      return asked == Is::kTensor;
    case Kind::kNumber:
    case Kind::kBool:
      if (each.assumed) return std::nullopt;
      if (asked != Is::kWhole && asked != Is::kReal) return asked == Is::kNumber;
      if (is_floating(each.dtype) && !each.handed_in) return asked == Is::kReal;
      // A caller may hand in 1.0 where 1 is the default.
      return each.has_number ? std::optional(asked == (is_floating(each.dtype) ? Is::kReal : Is::kWhole))
                             : std::nullopt;
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

const KindQuestion* question_of(std::string_view name) {
  const auto* found = std::find_if(kQuestions.begin(), kQuestions.end(),
                                   [&](const KindQuestion& each) { return each.name == name; });
  return found == kQuestions.end() ? nullptr : found;
}
}  // namespace

std::optional<bool> is_of_kind(std::string_view question, const Value& value, const State& state) {
  const KindQuestion* asked = question_of(question);
  if (!asked || value.is_bottom()) return std::nullopt;
  const std::optional<bool> first = is_one(asked->is, *value.begin(), state);
  const bool agree = std::all_of(value.begin(), value.end(), [&](const Alternative& each) {
    return is_one(asked->is, each, state) == first;
  });
  return agree ? first : std::nullopt;
}

std::vector<Alternative> answered(const Value& asked, std::vector<Alternative> kept) {
  const bool was_open = std::all_of(asked.begin(), asked.end(), [&](const Alternative& each) {
    return each.symbols == asked.begin()->symbols && (each.kind == Kind::kNone || each.kind == Kind::kTensor);
  });
  const bool is_only_one = kept.size() == 1 && kept.front().kind != Kind::kUnknown;
  for (Alternative& each : kept) each.symbols = was_open || is_only_one ? 0 : each.symbols;
  return kept;
}
bool has_none(const Value& asked) {
  return std::any_of(asked.begin(), asked.end(),
                     [](const Alternative& each) { return each.kind == Kind::kNone; });
}

namespace {
Value of_kind(std::string_view question, const Value& value, const State& state, bool wanted) {
  const KindQuestion* asked = question_of(question);
  if (!asked) return value;
  std::vector<Alternative> kept;
  std::copy_if(value.begin(), value.end(), std::back_inserter(kept), [&](const Alternative& each) {
    return is_one(asked->is, each, state).value_or(wanted) == wanted;
  });
  return kept.size() == value.size() ? value : Value(std::move(kept));
}

// Beside None as an alternative of its own an object is one that is there, and so is a tensor that no None is
// in.
bool is_there(const Alternative& each, const Value& asked, const State& state) {
  if ((each.kind != Kind::kObject && each.kind != Kind::kHandle) || !has_none(asked)) return false;
  const HeapObject* object = each.kind == Kind::kHandle ? state.find(each.object) : nullptr;
  const auto contents = object ? object->cells.find(HeapObject::kContents) : Cells::const_iterator();
  return !object || contents == object->cells.end() || !has_none(contents->second);
}

// `x is None`, `x.is_floating_point()`.
Value left_by_answer(bool of_dtype, const Value& asked, const State& state, bool wanted) {
  const auto may_hold = [&](const Alternative& each) {
    const bool decides =
        of_dtype ? each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined
                 : each.kind == Kind::kNone || each.kind == Kind::kTensor || is_there(each, asked, state);
    return !decides || (of_dtype ? is_floating(each.dtype) : each.kind != Kind::kNone) == wanted;
  };
  std::vector<Alternative> kept;
  for (const Alternative& each : asked) {
    const bool shared = of_dtype && each.kind == Kind::kHandle;
    const Value held = shared ? shared_contents(state, Value(each)) : Value(each);
    if (held.is_bottom() || std::any_of(held.begin(), held.end(), may_hold)) kept.push_back(each);
  }
  return kept.size() == asked.size() ? asked : Value(answered(asked, std::move(kept)));
}
}  // namespace

Value left_by_test(std::string_view test, const Value& asked, const State& state, bool wanted) {
  const bool of_dtype = test == "is_floating_point";
  if (of_dtype || test == "defined" || test == "has_value")
    return left_by_answer(of_dtype, asked, state, wanted);
  return of_kind(test, asked, state, wanted);
}

}  // namespace dtype_guard::flow
