// Control flow: branches, loops, try. A `for` loop is taken to run at least once, a `while` loop is
// not.
#include <algorithm>
#include <utility>

#include "analyzer/python/counted_rounds.h"
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
bool is_type_checking(const Node& condition) { return condition.text().ends_with("TYPE_CHECKING"); }
// `__name__ == "__main__"`, either way round.
bool is_main_guard(const Node& condition) {
  if (!condition.is("comparison_operator") || condition.tokens() != std::vector<std::string_view>{"=="})
    return false;
  const std::string_view left = condition.child(0).text(), right = condition.child(1).text();
  const std::string_view other = left == "__name__" ? right : right == "__name__" ? left : "";
  return other.find("__main__") != std::string_view::npos;
}
}  // namespace

void FunctionLowering::if_statement(const Node& node) {
  const BlockId after = builder_.block();
  const auto arm = [&](const Node& condition, const Node& consequence) {
    const bool is_main = is_module_code() && is_main_guard(condition);
    const ValueId holds = is_type_checking(condition) ? builder_.constant(false)
                          : is_main                   ? builder_.constant(true)
                                                      : test(condition);
    const BlockId yes = builder_.block(), no = builder_.block();
    {
      const Builder::At at(builder_, position(condition));
      if (builder_.open()) builder_.branch(holds, yes, no);
    }
    builder_.enter(yes);
    block(consequence);
    builder_.jump(after);
    builder_.enter(no);
  };
  arm(node.field("condition"), node.field("consequence"));
  for (const Node& each : node.children("alternative")) {
    if (each.is("elif_clause")) {
      arm(each.field("condition"), each.field("consequence"));
    } else {
      block(each.field("body"));
    }
  }
  builder_.jump(after);
  builder_.enter(after);
}

std::optional<std::vector<Node>> FunctionLowering::displayed(const Node& iterable) const {
  const bool display = iterable.is("tuple") || iterable.is("list") || iterable.is("expression_list");
  if (!display) return std::nullopt;
  std::vector<Node> out = iterable.children();
  if (out.size() > kMaxUnrolled || copies_ * out.size() > kMaxCopies) return std::nullopt;
  for (const Node& each : out) {
    if (each.is("list_splat")) return std::nullopt;
  }
  return out;
}

std::optional<std::vector<std::vector<Node>>> FunctionLowering::rounds(const Node& iterable) const {
  std::vector<std::vector<Node>> out;
  if (const auto all = displayed(iterable)) {
    for (const Node& each : *all) out.push_back({each});
    return out;
  }
  const Node function = iterable.is("call") ? iterable.field("function") : Node();
  if (!function.is("identifier") || knows(std::string(function.text()))) return std::nullopt;
  const std::string_view name = function.text();
  const std::vector<Given> arguments = given(iterable);
  if ((name != "zip" && name != "enumerate") || arguments.empty()) return std::nullopt;
  for (const Given& each : arguments) {
    if (name == "zip" && each.name == "strict") continue;
    const auto all = displayed(each.node);
    if (!all || !each.name.empty() || (name == "enumerate" && arguments.size() > 1)) return std::nullopt;
    if (out.empty()) out.resize(all->size());
    if (out.size() != all->size()) return std::nullopt;
    for (std::size_t i = 0; i < all->size(); ++i) out[i].push_back((*all)[i]);
  }
  return out;
}

ValueId FunctionLowering::any_of(ValueId list) {
  return builder_.op("subscript", {{"self", list}, {"any", builder_.constant(true)}});
}

ValueId FunctionLowering::counted_number() {
  return builder_.value(Op::kAlloc, "number", {{"dtype", dtype_constant(Dtype::kInt64)}});
}

std::vector<ValueId> FunctionLowering::values_of(const std::vector<Given>& arguments) {
  std::vector<ValueId> out;
  for (const Given& each : arguments) out.push_back(value(each.node));
  return out;
}

// A list of `element`, however often.
ValueId FunctionLowering::list_of(ValueId element) {
  const ValueId out = builder_.value(Op::kPack, "", {});
  Place place;
  place.base = out;
  place.path.push_back({Place::Step::Kind::kAnyCell, "", 0});
  builder_.store(std::move(place), element);
  return out;
}

// What zip and enumerate give in one round. Of `zip(*lists)` each part is an element of any of these.
ValueId FunctionLowering::element_in_turn(std::string_view name, const std::vector<Given>& arguments,
                                          const std::vector<ValueId>& lists) {
  const auto spreads = [](const Given& each) { return each.name.starts_with("*"); };
  if (std::any_of(arguments.begin(), arguments.end(), spreads))
    return name == "zip" && lists.size() == 1 ? list_of(any_of(any_of(lists[0]))) : builder_.unknown();
  Arguments parts;
  if (name == "enumerate" && lists.size() == 1 && arguments[0].name.empty()) {
    const ValueId element = any_of(lists[0]);
    // Which number it is goes with which element it is.
    const ValueId number =
        builder_.value(Op::kAlloc, "number", {{"dtype", dtype_constant(Dtype::kInt64)}, {"of", element}});
    return builder_.value(Op::kPack, "", {{"", number}, {"", element}});
  }
  if (name == "enumerate") parts.push_back({"", counted_number()});
  for (std::size_t i = 0; i < lists.size() && (name == "zip" || i == 0); ++i) {
    if (arguments[i].name.empty()) parts.push_back({"", any_of(lists[i])});
  }
  return builder_.value(Op::kPack, "", std::move(parts));
}

void FunctionLowering::loop_over(const Node& target, const Node& iterable,
                                 const std::function<void()>& body) {
  if (const auto numbers = counted_rounds(iterable, copies_); !numbers.empty() && !knows("range")) {
    const BlockId after = builder_.block();
    const std::size_t outside = std::exchange(copies_, copies_ * numbers.size());
    for (const std::int64_t number : numbers) {
      const BlockId next = builder_.block();
      assign(target, builder_.constant(number));
      loops_.push_back({next, after, contexts_.size()});
      in_round(target, {std::to_string(number), false}, body);
      loops_.pop_back();
      builder_.jump(next);
      builder_.enter(next);
    }
    copies_ = outside;
    builder_.jump(after);
    builder_.enter(after);
    return;
  }
  if (const auto all = rounds(iterable)) {
    const BlockId after = builder_.block();
    const bool counts = iterable.is("call") && iterable.field("function").text() == "enumerate";
    std::int64_t number = 0;
    const std::size_t outside = std::exchange(copies_, copies_ * std::max<std::size_t>(1, all->size()));
    for (const std::vector<Node>& each : *all) {
      const BlockId next = builder_.block();
      Arguments parts;
      if (counts) parts.push_back({"", builder_.constant(number++)});
      for (const Node& part : each) parts.push_back({"", value(part)});
      const bool one = !iterable.is("call");
      assign(target, one ? parts[0].value : builder_.value(Op::kPack, "", std::move(parts)));
      loops_.push_back({next, after, contexts_.size()});
      in_round(target, one ? written_out(each.front()) : std::pair(std::string(), false), body);
      loops_.pop_back();
      builder_.jump(next);
      builder_.enter(next);
    }
    copies_ = outside;
    builder_.jump(after);
    builder_.enter(after);
    return;
  }
  // What enumerate, zip and range count is a number; the rest is an element of something.
  const Node function = iterable.is("call") ? iterable.field("function") : Node();
  const std::string counted = function.is("identifier") && !locals_.contains(std::string(function.text()))
                                  ? std::string(function.text())
                                  : "";
  const std::vector<Given> arguments = iterable.is("call") ? given(iterable) : std::vector<Given>();
  ValueId whole = 0;
  const bool in_turn = (counted == "zip" || counted == "enumerate") && !arguments.empty();
  const std::vector<ValueId> lists =
      in_turn || counted == "range" ? values_of(arguments) : std::vector<ValueId>();
  if (!in_turn && counted != "range") whole = value(iterable);
  const BlockId begin = builder_.block(), next = builder_.block(), after = builder_.block();
  builder_.jump(begin);
  builder_.enter(begin);
  if (counted == "range") {
    assign(target, counted_number());
  } else {
    assign(target, in_turn ? element_in_turn(counted, arguments, lists) : any_of(whole));
  }
  loops_.push_back({next, after, contexts_.size()});
  body();
  loops_.pop_back();
  builder_.jump(next);
  builder_.enter(next);
  builder_.branch(builder_.op(std::string(kMoreElements), {}), begin, after);
  builder_.enter(after);
}

void FunctionLowering::for_statement(const Node& node) {
  loop_over(node.field("left"), node.field("right"), [&] { block(node.field("body")); });
  if (const Node otherwise = node.field("alternative")) block(otherwise.field("body"));
}

void FunctionLowering::while_statement(const Node& node) {
  const BlockId head = builder_.block(), body = builder_.block(), after = builder_.block();
  builder_.jump(head);
  builder_.enter(head);
  const ValueId holds = test(node.field("condition"));
  builder_.branch(holds, body, after);
  builder_.enter(body);
  loops_.push_back({head, after, contexts_.size()});
  block(node.field("body"));
  loops_.pop_back();
  builder_.jump(head);
  builder_.enter(after);
  if (const Node otherwise = node.field("alternative")) block(otherwise.field("body"));
}

void FunctionLowering::leave_loop(bool again) {
  if (loops_.empty()) return;
  const Loop& loop = loops_.back();
  leave_contexts(loop.contexts);
  builder_.jump(again ? loop.next : loop.after);
  builder_.enter(builder_.block());
}

// Handlers are entered from before the body: what it did until it threw is not known.
void FunctionLowering::try_statement(const Node& node) {
  const BlockId body = builder_.block(), after = builder_.block();
  std::vector<Node> handlers;
  Node otherwise, finally;
  for (const Node& each : node.children()) {
    if (each.is("except_clause") || each.is("except_group_clause")) handlers.push_back(each);
    if (each.is("else_clause")) otherwise = each.field("body");
    if (each.is("finally_clause")) finally = each.child(0);
  }
  BlockId handler = handlers.empty() ? body : builder_.block();
  if (!handlers.empty()) builder_.branch(builder_.op(std::string(kMayThrow), {}), handler, body);
  if (handlers.empty()) builder_.jump(body);
  builder_.enter(body);
  block(node.field("body"));
  if (otherwise) block(otherwise);
  builder_.jump(after);
  for (std::size_t i = 0; i < handlers.size(); ++i) {
    builder_.enter(handler);
    const bool last = i + 1 == handlers.size();
    if (!last) {
      const BlockId own = builder_.block();
      handler = builder_.block();
      builder_.branch(builder_.op(std::string(kMayThrow), {}), own, handler);
      builder_.enter(own);
    }
    for (const Node& each : handlers[i].children()) {
      if (each.is("as_pattern") && each.field("alias"))
        assign(each.field("alias").child(0), builder_.unknown());
      if (each.is("block")) block(each);
    }
    builder_.jump(after);
  }
  builder_.enter(after);
  if (finally) block(finally);
}

}  // namespace dtype_guard::python
