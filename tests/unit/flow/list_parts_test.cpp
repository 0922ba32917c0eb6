// Parts of lists, and what kind of thing a value is.
#include "analyzer/flow/engine/operations/list_parts.h"

#include "analyzer/flow/engine/conditions/value_kinds.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

Value half() { return Value(Alternative::tensor(Dtype::kFloat16, {})); }

HeapObject list_of(std::size_t count) {
  HeapObject out;
  out.kind = HeapObject::Kind::kContainer;
  for (std::size_t i = 0; i < count; ++i)
    out.cells[{Key::Kind::kIndex, static_cast<std::int64_t>(i)}] = half();
  return out;
}
}  // namespace

TEST_CASE("list parts: a position from the end needs a known length") {
  HeapObject list = list_of(3);
  CHECK(ListParts::position(&list, -1) == Key{Key::Kind::kIndex, 2});
  CHECK(ListParts::position(&list, -4).kind == Key::Kind::kAny);
  CHECK(ListParts::position(nullptr, 1) == Key{Key::Kind::kIndex, 1});
  list.may_be_shorter = true;
  CHECK(ListParts::position(&list, -1).kind == Key::Kind::kAny);
  list = list_of(3);
  list.rest = Value::unknown();
  CHECK(ListParts::position(&list, -1).kind == Key::Kind::kAny);
}

TEST_CASE("value kinds: what a setting hands in may be anything") {
  State state;
  state.put(1, list_of(1));
  const Value list(Alternative::at(Kind::kObject, 1)), made = half();
  CHECK(is_of_kind("is_tensor", made, state) == true);
  CHECK(is_of_kind("is_sequence", made, state) == false);
  CHECK(is_of_kind("is_sequence", list, state) == true);
  CHECK(!is_of_kind("is_list", list, state));
  CHECK(is_of_kind("is_function", Value::none(), state) == false);
  CHECK(!is_of_kind("is_tensor", Value::unknown(), state));
  CHECK(!is_of_kind("dim", made, state));
  Alternative handed = *made.single();
  handed.handed_in = true;
  CHECK(!is_of_kind("is_sequence", Value(handed), state));
}
}  // namespace dtype_guard::flow
