// Conditions: comparisons, logic and choices.
#include <algorithm>
#include <unordered_map>

#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxNesting = 150;

// Whether its value is a bool whatever its parts are.
bool is_test(const Node& node, int depth = 0) {
  if (depth > kMaxNesting) return false;
  if (node.is("parenthesized_expression")) return is_test(node.child(0), depth + 1);
  if (node.is("boolean_operator"))
    return is_test(node.field("left"), depth + 1) && is_test(node.field("right"), depth + 1);
  return node.is("comparison_operator") || node.is("not_operator") || node.is("true") || node.is("false");
}
}  // namespace

ValueId FunctionLowering::negation(const Node& node) {
  const Node inner = node.field("argument");
  if (node.is("not_operator")) return test(node);
  if (const auto number = written_integer(node)) return builder_.constant(*number);
  const ValueId of = value(inner);
  const std::string_view sign = node.field("operator").text();
  if (sign == "+") return of;
  return builder_.op(sign == "~" ? "bitwise_not" : "neg", {{"self", of}});
}

ValueId FunctionLowering::comparison(const Node& node) {
  static const std::unordered_map<std::string_view, std::string_view> names = {
      {"==", "eq"}, {"!=", "ne"}, {"<", "lt"}, {"<=", "le"}, {">", "gt"}, {">=", "ge"}};
  const std::vector<Node> parts = node.children();
  const std::vector<std::string_view> signs = node.tokens();
  if (parts.size() != 2 || signs.size() != 1) {  // a == b == c: each beside the next, and read once
    const bool chain =
        parts.size() == signs.size() + 1 &&
        std::all_of(signs.begin(), signs.end(), [](auto each) { return names.contains(each); });
    std::vector<ValueId> values;
    for (const Node& each : parts) values.push_back(value(each));
    if (!chain) return builder_.unknown();
    Arguments pairs;
    for (std::size_t i = 0; i < signs.size(); ++i) {
      const std::string name(names.at(signs[i]));
      pairs.push_back({"", builder_.op(name, {{"self", values[i]}, {"other", values[i + 1]}})});
    }
    return builder_.op("logical_and", std::move(pairs));
  }
  const std::string_view sign = signs[0];
  if ((sign == "is" || sign == "is not") && parts[1].is("none")) {
    ValueId present = 0;
    const Entity entity = resolve(parts[0]);
    if (entity && entity.kind != Entity::Kind::kValue && entity.kind != Entity::Kind::kChoice) {
      present = entity.optional.empty() ? builder_.constant(true) : is_installed(entity.optional);
    } else {
      present = builder_.op("defined", {{"self", value(parts[0])}});
    }
    return sign == "is" ? builder_.op("logical_not", {{"self", present}}) : present;
  }
  const bool contains = sign == "in" || sign == "not in";
  if (contains) {
    // Among several dtypes or strings that stand there it is one of them.
    const auto all = displayed(parts[1].is("set") ? Node() : parts[1]);
    const ValueId asked = value(parts[0]);
    if (!all || all->empty()) {
      const ValueId in = value(parts[1]);
      const auto key = literal(parts[0]);
      if (!key) {
        Arguments looked = {{"self", in}};
        add_key(parts[0], looked);
        builder_.op("may_hold", std::move(looked));
        return builder_.op("contains", {{"", asked}});
      }
      const ValueId there = builder_.op("dict_has", {{"self", in}, {"index", builder_.constant(*key)}});
      return sign == "in" ? there : builder_.op("logical_not", {{"self", there}});
    }
    Arguments tests;
    for (const Node& each : *all)
      tests.push_back({"", builder_.op("eq", {{"self", asked}, {"other", value(each)}})});
    const ValueId any = tests.size() == 1 ? tests[0].value : builder_.op("logical_or", std::move(tests));
    return sign == "in" ? any : builder_.op("logical_not", {{"self", any}});
  }
  if (const auto pairs = (sign == "==" || sign == "!=") ? pairs_equal(parts[0], parts[1]) : std::nullopt)
    return sign == "==" ? *pairs : builder_.op("logical_not", {{"self", *pairs}});
  const ValueId left = value(parts[0]);
  const ValueId right = value(parts[1]);
  if (sign == "is" || sign == "is not")
    return builder_.op(sign == "is" ? "eq" : "ne", {{"self", left}, {"other", right}});
  const auto name = names.find(sign);
  return name == names.end() ? builder_.unknown()
                             : builder_.op(std::string(name->second), {{"self", left}, {"other", right}});
}

// (q.dtype, k.dtype) == (v.dtype, v.dtype): each beside its own.
std::optional<ValueId> FunctionLowering::pairs_equal(const Node& left, const Node& right) {
  const auto all = left.is("tuple") ? displayed(left) : std::nullopt;
  const auto others = right.is("tuple") ? displayed(right) : std::nullopt;
  if (!all || !others || all->empty() || all->size() != others->size()) return std::nullopt;
  Arguments pairs;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const ValueId one = value((*all)[i]);
    pairs.push_back({"", builder_.op("eq", {{"self", one}, {"other", value((*others)[i])}})});
  }
  return builder_.op("logical_and", std::move(pairs));
}

ValueId FunctionLowering::test(const Node& node) {
  if (depth_ > kMaxNesting) return builder_.unknown();
  ++depth_;
  const ValueId out = test_of(node);
  --depth_;
  return out;
}

ValueId FunctionLowering::test_of(const Node& node) {
  if (node.is("parenthesized_expression")) return test(node.child(0));
  const Builder::At at(builder_, position(node));
  if (node.is("not_operator")) return builder_.op("logical_not", {{"self", test(node.field("argument"))}});
  if (!node.is("boolean_operator")) return value(node);
  const ValueId left = test(node.field("left"));
  const ValueId right = test(node.field("right"));
  const bool is_and = node.field("operator").text() == "and";
  return builder_.op(is_and ? "logical_and" : "logical_or", {{"", left}, {"", right}});
}

// Tests are facts together; of other values `or` gives the one that is true.
ValueId FunctionLowering::boolean(const Node& node) {
  const bool is_and = node.field("operator").text() == "and";
  const Node left = node.field("left"), right = node.field("right");
  if (is_test(node)) return test(node);
  const ValueId first = value(left);
  const BlockId other = builder_.block(), as_is = builder_.block(), after = builder_.block();
  builder_.branch(first, is_and ? other : as_is, is_and ? as_is : other);
  builder_.enter(other);
  const ValueId second = value(right);
  builder_.jump(after);
  builder_.enter(as_is);  // what it is there is known by its truth
  const ValueId kept = builder_.value(Op::kCopy, first);
  builder_.jump(after);
  builder_.enter(after);
  return builder_.value(Op::kPhi, "", {{"", kept}, {"", second}});
}

ValueId FunctionLowering::conditional(const Node& node) {
  const std::vector<Node> parts = node.children();
  if (parts.size() != 3) return builder_.unknown();
  const ValueId holds = test(parts[1]);
  const BlockId yes = builder_.block(), no = builder_.block(), after = builder_.block();
  builder_.branch(holds, yes, no);
  builder_.enter(yes);
  const ValueId first = value(parts[0]);
  builder_.jump(after);
  builder_.enter(no);
  const ValueId second = value(parts[2]);
  builder_.jump(after);
  builder_.enter(after);
  return builder_.value(Op::kPhi, "", {{"", first}, {"", second}});
}

}  // namespace dtype_guard::python
