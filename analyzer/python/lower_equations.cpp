// Sums by an equation: which tensors it is of, its text, and the dimensions that the text names.
#include <algorithm>
#include <set>

#include "analyzer/flow/ir/equation.h"
#include "analyzer/python/function_lowering.h"
#include "analyzer/python/kept_fields.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::python {

using namespace flow;

// einsum("ij,jk", a, b), meshgrid(x, y): all that stands there by position is one list of tensors. One alone
// may be that list.
std::optional<ValueId> FunctionLowering::tensors_in_a_row(const Operator& entry,
                                                          std::vector<Given>& arguments) {
  static const std::set<std::string_view> of_several = {"einsum", "meshgrid", "cartesian_prod", "block_diag"};
  const auto at = std::find(entry.arguments.begin(), entry.arguments.end(), "tensors");
  if (at == entry.arguments.end() || !of_several.contains(entry.name)) return std::nullopt;
  const auto from =
      arguments.begin() +
      std::min<std::ptrdiff_t>(at - entry.arguments.begin(), static_cast<std::ptrdiff_t>(arguments.size()));
  const auto end = std::find_if(from, arguments.end(),
                                [](const Given& each) { return !each.name.empty() && each.name != "*"; });
  const bool starred = std::any_of(from, end, [](const Given& each) { return each.name == "*"; });
  if (end - from < 2 && !starred) return std::nullopt;
  Arguments all;
  for (auto each = from; each != end; ++each) all.push_back({"", value(each->node)});
  const bool is_one = all.size() == 1;
  const ValueId one = all.front().value;
  arguments.erase(from, end);
  if (is_one) return one;
  return starred ? builder_.unknown() : builder_.value(Op::kPack, "", std::move(all));
}

// Of an equation that is put together, as f"b i d, {keys} -> b i j", each part is a text that is written in
// the function, or kept by the constructor. Of two that a condition chooses between the first stands for
// both: they name batches with and without heads, and the same sums.
std::optional<std::string> FunctionLowering::equation(const Node& node) const {
  if (const auto known = literal(node)) return known;
  if (!node.is("string") || node.text().starts_with('b')) return std::nullopt;
  std::string out;
  for (const Node& each : node.children()) {
    if (each.is("string_content")) out += each.text();
    if (!each.is("interpolation")) continue;
    Node part = each.child(0);
    if (const std::vector<Node> sources = sources_of(part); sources.size() == 1) part = sources[0];
    const bool is_field = part.is("attribute") && is_self(part.field("object"));
    const FunctionDefinition* constructor = nullptr;
    if (is_field) part = kept_as(part.field("attribute").text(), definition_, unit_.modules(), constructor);
    if (part.is("parenthesized_expression")) part = part.child(0);
    if (part.is("conditional_expression")) part = part.child(0);
    const auto text = literal(part);
    if (!text) return std::nullopt;
    out += *text;
  }
  return out;
}

// "b i d, b j d -> b i j" and "bid,bjd->bij" give three dimensions; "... i j" at least two.
void FunctionLowering::state_dimensions(const std::vector<Given>& arguments, Arguments& handed) {
  const auto text = arguments.empty() ? std::nullopt : literal(arguments[0].node);
  const std::size_t arrow = text ? text->find("->") : std::string::npos;
  if (arrow == std::string::npos) return;
  const std::string_view result = std::string_view(*text).substr(arrow + 2);
  const bool are_words = names_stand_apart(std::string_view(*text).substr(0, arrow));
  const std::vector<std::string_view> names = names_in(result, are_words);
  // PyTorch takes letters one by one, wherever blanks stand.
  const bool has_more = result.find("...") != std::string_view::npos ||
                        std::any_of(names.begin(), names.end(), [](auto each) { return each.size() > 1; });
  const auto count = static_cast<std::int64_t>(names.size());
  handed.push_back({std::string(name_of(Named::kDimensions)), builder_.constant(count)});
  if (has_more) handed.push_back({std::string(name_of(Named::kMoreDimensions)), builder_.constant(true)});
}

}  // namespace dtype_guard::python
