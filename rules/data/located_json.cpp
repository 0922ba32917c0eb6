#include "rules/data/located_json.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "rules/data/json_escape.h"

namespace dtype_guard {
JsonError::JsonError(int at_line, std::string at_pointer, std::string what_is_wrong)
    : std::runtime_error(fmt::format("line {}: {}", at_line, what_is_wrong)),
      line(at_line),
      pointer(std::move(at_pointer)),
      problem(std::move(what_is_wrong)) {}

JsonNode::JsonNode() = default;
JsonNode::JsonNode(const JsonNode&) = default;
JsonNode::JsonNode(JsonNode&&) noexcept = default;
JsonNode& JsonNode::operator=(const JsonNode&) = default;
JsonNode& JsonNode::operator=(JsonNode&&) noexcept = default;
JsonNode::~JsonNode() = default;

std::string JsonNode::pointer() const {
  if (places_ == nullptr || place_ == 0) return "";
  std::vector<const JsonPlaces::Place*> steps;
  for (std::uint32_t at = place_; at != 0; at = places_->all[at].parent) steps.push_back(&places_->all[at]);
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    text = (*step)->is_member ? pointer_to(text, json_string_at(places_->text, (*step)->at))
                              : pointer_to(text, (*step)->at);
  }
  return text;
}

std::size_t JsonNode::key_offset() const {
  return places_ != nullptr && places_->all[place_].is_member ? places_->all[place_].at : 0;
}

const JsonNode* JsonNode::member(std::string_view key) const {
  const Members* all = members();
  if (all == nullptr) return nullptr;
  for (const auto& [name, node] : *all) {
    if (name == key) return &node;
  }
  return nullptr;
}

namespace {
constexpr std::size_t kLongestShown = 80;

// As a message can show it: control characters written out, what is long cut off.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= kLongestShown) return out + "...";
    if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}
}  // namespace

std::string JsonNode::describe() const {
  struct Describe {
    std::string operator()(Null) const { return "null"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t n) const { return fmt::format("the number {}", n); }
    std::string operator()(std::uint64_t n) const { return fmt::format("the number {}", n); }
    std::string operator()(double n) const { return fmt::format("the number {}", n); }
    std::string operator()(const std::string& s) const { return '"' + shown(s) + '"'; }
    std::string operator()(const Items& i) const { return i.empty() ? "an empty array" : "an array"; }
    std::string operator()(const Members& m) const { return m.empty() ? "an empty object" : "an object"; }
  };
  return std::visit(Describe{}, value);
}

std::string pointer_to(const std::string& pointer, std::string_view key) {
  std::string text = pointer + "/";
  for (char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

std::string pointer_to(const std::string& pointer, std::size_t index) {
  return fmt::format("{}/{}", pointer, index);
}

}  // namespace dtype_guard
