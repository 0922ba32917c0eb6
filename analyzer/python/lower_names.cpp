// Members whose names code puts together: setattr(self, f"norm{i}", ...), getattr(self, name). In a loop that
// is unrolled they are known; elsewhere all that one such text names are one member.
#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr std::string_view kAnything = "{}";

// What stands between the braces, where that is a plain name and is not formatted.
Node name_in(const Node& interpolation) {
  const std::vector<Node> parts = interpolation.children();
  return parts.size() == 1 && parts[0].is("identifier") ? parts[0] : Node();
}

// "%s_norm", with anything in the places of what is put in.
std::string formatted(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_place = text[i] == '%' && i + 1 < text.size() && (text[i + 1] == 's' || text[i + 1] == 'd');
    if (is_place) {
      out += kAnything;
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}
}  // namespace

std::optional<std::string> FunctionLowering::literal(const Node& node) const {
  if (node.is("parenthesized_expression") && !node.child(0).is("parenthesized_expression"))
    return literal(node.child(0));
  return known_text(node);
}

// A text that is written out, or is put together of what the round of an unrolled loop has.
std::optional<std::string> FunctionLowering::known_text(const Node& written) const {
  if (written.is("identifier")) {
    const auto known = in_this_round_.find(std::string(written.text()));
    const bool is_text = known != in_this_round_.end() && known->second.second;
    return is_text ? std::optional(known->second.first) : std::nullopt;
  }
  if (!written.is("string") || written.text().starts_with('b')) return std::nullopt;
  std::string out;
  for (const Node& each : written.children()) {
    if (each.is("string_content")) out += each.text();
    if (!each.is("interpolation")) continue;
    const Node name = name_in(each);
    const auto known = name ? in_this_round_.find(std::string(name.text())) : in_this_round_.end();
    if (known == in_this_round_.end()) return std::nullopt;
    out += known->second.first;
  }
  return out;
}

// The member that a text names, all that may be meant by it as one; nothing where no part of it is known.
std::optional<std::string> FunctionLowering::field_named(const Node& written) const {
  if (const auto known = literal(written)) return known;
  std::string out;
  if (written.is("string")) {
    for (const Node& each : written.children()) {
      if (each.is("string_content")) out += each.text();
      if (each.is("interpolation")) out += kAnything;
    }
  } else if (written.is("binary_operator")) {
    const Node left = written.field("left"), right = written.field("right");
    const std::string_view sign = written.field("operator").text();
    const auto first = literal(left), second = literal(right);
    if (sign == "%" && first) out = formatted(*first);
    if (sign == "+" && (first || second))
      out = first.value_or(std::string(kAnything)) + second.value_or(std::string(kAnything));
  }
  return out.size() > kAnything.size() && out.find(kAnything) != std::string::npos ? std::optional(out)
                                                                                   : std::nullopt;
}

// What an element that is a text or a number is as a part of a text, and whether it is a text.
std::pair<std::string, bool> FunctionLowering::written_out(const Node& element) const {
  if (const auto text = literal(element)) return {*text, true};
  const auto number = written_integer(element);
  return {number ? std::to_string(*number) : "", false};
}

// Runs the body with the target known as that element, where it is bound by the loop alone.
void FunctionLowering::in_round(const Node& target, const std::pair<std::string, bool>& element,
                                const std::function<void()>& body) {
  const std::string name(target.is("identifier") ? target.text() : "");
  const auto assigned = assigned_.find(name);
  const bool is_bound_once = assigned == assigned_.end() || assigned->second.size() <= 1;
  const bool is_known = !name.empty() && is_bound_once && (element.second || !element.first.empty());
  if (is_known) in_this_round_[name] = element;
  body();
  if (is_known) in_this_round_.erase(name);
}

}  // namespace dtype_guard::python
