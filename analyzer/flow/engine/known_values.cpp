#include "analyzer/flow/engine/known_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <limits>
#include <vector>

#include "analyzer/flow/settings/module_types.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// The bits of positive numbers are in their order already; those of negative ones in the opposite one.
std::int64_t place_of(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

bool is_real(const Alternative& each) { return each.kind == Kind::kNumber && each.dtype == Dtype::kFloat64; }
bool is_known(const Alternative& each) {
  const bool counts = each.kind == Kind::kNumber || each.kind == Kind::kBool;
  return (counts || each.kind == Kind::kString) && each.has_number;
}
std::int64_t real_place(const Alternative& each) {
  return is_real(each) ? each.number : place_of(static_cast<double>(each.number));
}

std::strong_ordering order(const Alternative& a, const Alternative& b) {
  if (is_real(a) == is_real(b)) return a.number <=> b.number;
  return real_place(a) <=> real_place(b);
}

using Made = std::int64_t (*)(std::int64_t, std::int64_t);
struct Arithmetic {
  std::string_view name;
  Made made;
};
constexpr std::array<Arithmetic, 3> kArithmetic = {{{"add", [](auto a, auto b) { return a + b; }},
                                                    {"sub", [](auto a, auto b) { return a - b; }},
                                                    {"mul", [](auto a, auto b) { return a * b; }}}};

// Of numbers whose product has room.
std::optional<std::int64_t> small(std::string_view name, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const auto* found = std::find_if(kArithmetic.begin(), kArithmetic.end(),
                                   [&](const Arithmetic& each) { return each.name == name; });
  const bool is_large = a <= -kMost || a >= kMost || b <= -kMost || b >= kMost;
  return found == kArithmetic.end() || is_large ? std::nullopt : std::optional(found->made(a, b));
}
}  // namespace

Alternative real_number(double value) {
  Alternative out = Alternative::real();
  if (std::isnan(value)) return out;
  out.has_number = true;
  out.number = place_of(value);
  return out;
}

std::optional<bool> compared_numbers(std::string_view name, const Alternative& a, const Alternative& b) {
  if (!is_known(a) || !is_known(b)) return std::nullopt;
  const bool equates = name == "eq" || name == "ne";
  const bool texts = a.kind == Kind::kString, others_texts = b.kind == Kind::kString;
  if (texts != others_texts) return equates ? std::optional(name == "ne") : std::nullopt;
  const std::strong_ordering is = order(a, b);
  if (equates) return (is == std::strong_ordering::equal) == (name == "eq");
  if (texts) return std::nullopt;
  if (name == "lt") return is < 0;
  if (name == "le") return is <= 0;
  return name == "gt" ? is > 0 : is >= 0;
}

std::optional<bool> compared_numbers(std::string_view name, const Value& a, const Value& b) {
  std::optional<bool> out;
  for (const Alternative& one : a) {
    for (const Alternative& other : b) {
      const std::optional<bool> holds = compared_numbers(name, one, other);
      if (!holds || (out && *out != *holds)) return std::nullopt;
      out = holds;
    }
  }
  return out;
}

std::optional<Alternative> computed_number(std::string_view name, const std::vector<const Value*>& of) {
  if (of.size() != 2) return std::nullopt;
  const Alternative *a = of[0]->single(), *b = of[1]->single();
  const auto counts = [](const Alternative* each) {
    return each && is_known(*each) && each->kind != Kind::kString && !is_real(*each);
  };
  if (!counts(a) || !counts(b)) return std::nullopt;
  const std::optional<std::int64_t> made = small(name, a->number, b->number);
  return made ? std::optional(Alternative::integer(*made)) : std::nullopt;
}

bool is_list(const HeapObject* object) {
  if (!object || object->stands != HeapObject::Stands::kForItself) return false;
  const bool is_of_modules =
      object->type.starts_with(name_of(Named::kModules)) && object->type != kModuleDict;
  return is_of_modules || (object->kind == HeapObject::Kind::kContainer && object->type.empty());
}

bool is_counted(const HeapObject& list) {
  const auto count = static_cast<std::int64_t>(list.cells.size());
  return list.rest.is_bottom() && !list.may_be_shorter &&
         (count == 0 || (list.cells.begin()->first == Key{Key::Kind::kIndex, 0} &&
                         list.cells.last_key() == Key{Key::Kind::kIndex, count - 1}));
}

namespace {
// Of a list to which code that is not in sight, or one way to here, may have done something it is not known.
std::optional<bool> has_elements(const HeapObject& object) {
  const bool is_plain = object.kind == HeapObject::Kind::kContainer && is_list(&object);
  if ((!is_plain && object.type != kDictionary) || object.is_input || object.may_be_shorter)
    return std::nullopt;
  if (object.cells.empty()) return object.rest.is_bottom() ? std::optional(false) : std::nullopt;
  return true;
}
}  // namespace

std::optional<std::size_t> count_of(const Value& list, const State& state, const Identities& ids) {
  const Alternative* one = list.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  const bool is_known = is_list(object) && is_counted(*object) && !ids.stands_for_several(one->object);
  // A module that is no container has no elements, and is not asked for them.
  if (!is_known || (object->cells.empty() && !object->type.empty())) return std::nullopt;
  return object->cells.size();
}

std::optional<bool> truth(const Value& value, const State& state, const Identities& ids) {
  static const Alternative empty = Alternative::text("");
  std::optional<bool> out;
  for (const Alternative& each : value) {
    std::optional<bool> one;
    if (each.kind == Kind::kString && each.has_number) {
      one = each.number != empty.number;
    } else if (each.kind == Kind::kObject) {
      const HeapObject* object = state.find(each.object);
      if (object && !ids.stands_for_several(each.object)) one = has_elements(*object);
    } else {
      one = truth(Value(each));
    }
    if (!one || (out && *out != *one)) return std::nullopt;
    out = one;
  }
  return out;
}

}  // namespace dtype_guard::flow
