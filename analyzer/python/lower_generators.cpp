// Generators: a call gives all that is yielded as a list; when each is made does not matter to its dtype.
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxDepth = 60;

bool yields(const Node& node, int depth) {
  if (depth > kMaxDepth) return false;
  for (const Node& each : node.children()) {
    if (each.is("yield")) return true;
    const bool inner = each.is("function_definition") || each.is("lambda") || each.is("class_definition");
    if (!inner && yields(each, depth + 1)) return true;
  }
  return false;
}
}  // namespace

void FunctionLowering::begin_generator() {
  is_generator_ = !definition_.node.is("lambda") && yields(definition_.node.field("body"), 0);
  if (!is_generator_) return;
  yields_.variable = builder_.variable("<yielded>");
  builder_.store(yields_, builder_.value(Op::kPack, "", {}));
}

ValueId FunctionLowering::yield(const Node& node) {
  const Node what = node.child(0);
  const ValueId given = what ? value(what) : builder_.none();
  if (!is_generator_) return builder_.unknown();
  const bool from = node.has_token("from");
  Place place;
  place.base = yielded();
  const bool again = from || !loops_.empty();
  place.path.push_back({again ? Place::Step::Kind::kAnyCell : Place::Step::Kind::kNextCell, "", 0});
  const ValueId each =
      from ? builder_.op("subscript", {{"self", given}, {"any", builder_.constant(true)}}) : given;
  builder_.store(std::move(place), each);
  return builder_.unknown();
}

}  // namespace dtype_guard::python
