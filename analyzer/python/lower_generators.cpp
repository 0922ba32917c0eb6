// Generators: a call gives all that is yielded as a list; when each is made does not matter to its dtype. Of
// one that makes a context manager the statement with runs what stands before the yield; the dtype state is
// restored behind it. Comprehensions of lists and generator expressions are lists as well.
#include <set>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/python/counted_rounds.h"
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
  is_generator_ =
      !ends_at_yield_ && !definition_.node.is("lambda") && yields(definition_.node.field("body"), 0);
  if (!is_generator_) return;
  yields_.variable = builder_.variable("<yielded>");
  builder_.store(yields_, builder_.value(Op::kPack, "", {}));
}

ValueId FunctionLowering::yield(const Node& node) {
  const Node what = node.child(0);
  const ValueId given = what ? value(what) : builder_.none();
  if (ends_at_yield_) {
    builder_.give_back(given);
    builder_.enter(builder_.block());
  }
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

std::string entered_key(const FunctionDefinition& context) { return std::string(kEntered) + context.key; }

Function FunctionLowering::run_entered() {
  ends_at_yield_ = true;
  Function out = run();
  out.key = entered_key(definition_);
  out.name += ".<entered>";
  out.external = false;
  return out;
}

// Nothing where the context is none of a generator in sight.
std::optional<ValueId> FunctionLowering::enter_generator(const Node& manager) {
  const Entity callee = manager.is("call") ? resolve(manager.field("function")) : Entity();
  const FunctionDefinition* made = callee.kind == Entity::Kind::kFunction ? callee.function : nullptr;
  if (!made || !made->makes_context || made->owner || made->is_nested || made->is_opaque) return std::nullopt;
  if (made->file->is_installed) return std::nullopt;
  contexts_.push_back(builder_.value(Op::kSaveState, "", {}));
  FunctionDefinition entered = *made;
  entered.key = entered_key(*made);
  const Builder::At at(builder_, position(manager));
  return call_function(entered, std::nullopt, given(manager));
}

static std::set<std::string> identifiers(const Node& node) {
  std::set<std::string> out;
  if (node.is("identifier")) out.emplace(node.text());
  for (const Node& part : node.children()) out.merge(identifiers(part));
  return out;
}

// What the loops of a comprehension bind. A loop over what has such a name itself is left as it is.
static std::vector<std::string> bound_by(const Node& comprehension) {
  std::vector<std::string> out;
  for (const Node& clause : comprehension.children()) {
    if (!clause.is("for_in_clause")) continue;
    const std::set<std::string> over = identifiers(clause.field("right"));
    for (const std::string& each : identifiers(clause.field("left"))) {
      if (!over.contains(each)) out.push_back(each);
    }
  }
  return out;
}

ValueId FunctionLowering::comprehension(const Node& node) {
  ValueId out = 0;
  const std::vector<std::string> bound = bound_by(node);
  in_own_scope(bound, [&] {
    // Of another name in the IR: no fix behind it may use them.
    for (const std::string& each : bound) {
      const std::string own = '<' + each + '>';
      const auto [found, is_new] = variables_.try_emplace(own, 0);
      if (is_new) found->second = builder_.variable(own);
      variables_[each] = found->second;
    }
    out = comprehended_list(node);
  });
  return out;
}

ValueId FunctionLowering::comprehended_list(const Node& node) {
  const Node body = node.field("body");
  std::vector<Node> clauses;
  std::vector<Node> filters;
  for (const Node& each : node.children()) {
    if (each.is("for_in_clause")) clauses.push_back(each);
    if (each.is("if_clause")) filters.push_back(each.child(0));
  }
  if (clauses.size() != 1 || filters.size() > 1) return builder_.unknown();
  const Node over = clauses[0].field("right");
  if (filters.empty() && (rounds(over) || (!counted_rounds(over, copies_).empty() && !knows("range")))) {
    Arguments all;
    loop_over(clauses[0].field("left"), over, [&] { all.push_back({"", value(body)}); });
    return builder_.value(Op::kPack, "", std::move(all));
  }
  const ValueId made = builder_.value(Op::kPack, "", {});
  loop_over(clauses[0].field("left"), over, [&] {
    Place place;
    place.base = made;
    place.path.push_back({Place::Step::Kind::kAnyCell, "", 0});
    const BlockId yes = builder_.block(), no = builder_.block();
    if (!filters.empty()) builder_.branch(test(filters.front()), yes, no);
    if (!filters.empty()) builder_.enter(yes);
    builder_.store(std::move(place), value(body));
    if (filters.empty()) return;
    builder_.jump(no);
    builder_.enter(no);
  });
  return made;
}

}  // namespace dtype_guard::python
