#include "rules/report/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "rules/data/embedded.h"
#include "rules/data/json_parser.h"
#include "rules/report/report.h"
#include "rules/text/lists.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kKeywords[] = {"$schema",
                                          "$id",
                                          "title",
                                          "description",
                                          "definitions",
                                          "$ref",
                                          "type",
                                          "const",
                                          "enum",
                                          "minimum",
                                          "maximum",
                                          "minLength",
                                          "anyOf",
                                          "items",
                                          "required",
                                          "properties",
                                          "additionalProperties"};

struct JsonType {
  std::string_view name;
  std::string_view in_words;
  bool (*holds)(const JsonNode& value);
};
const JsonType kTypes[] = {
    {"object", "an object", [](const JsonNode& value) { return value.members() != nullptr; }},
    {"array", "an array", [](const JsonNode& value) { return value.items() != nullptr; }},
    {"string", "a string", [](const JsonNode& value) { return value.string() != nullptr; }},
    {"boolean", "true or false", [](const JsonNode& value) { return value.boolean() != nullptr; }},
    {"null", "null", [](const JsonNode& value) { return value.is_null(); }},
    {"integer", "a whole number",
     [](const JsonNode& value) {
       const auto* real =
           std::get_if<double>(&value.value);  // one that is too large to be kept as what it is
       return std::holds_alternative<std::int64_t>(value.value) ||
              std::holds_alternative<std::uint64_t>(value.value) ||
              (real != nullptr && std::trunc(*real) == *real);
     }},
};

const JsonType& type_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const JsonType& each) { return each.name == name; });
  if (found == std::end(kTypes)) throw std::logic_error(fmt::format("a schema names the type {}", name));
  return *found;
}

// A schema, or one within it, made ready: looked up once and not again for each of many findings.
struct Shape {
  std::vector<const JsonType*> types;  // any of them; none: any type
  std::vector<std::string> words;      // const and enum
  std::int64_t minimum = INT64_MIN;
  std::int64_t maximum = INT64_MAX;
  std::size_t shortest = 0;
  std::map<std::string, const Shape*, std::less<>> properties;
  std::vector<std::string> required;
  const Shape* items = nullptr;
  const Shape* others = nullptr;  // additionalProperties
};

class Schema {
 public:
  explicit Schema(const JsonNode& root) : root_(root) { whole = shape_of(root); }
  const Shape* whole = nullptr;

 private:
  const Shape* shape_of(const JsonNode& node) {
    const auto [known, added] = shapes_.try_emplace(&node);
    if (added) fill(known->second, node);
    return &known->second;
  }

  void fill(Shape& shape, const JsonNode& node) {
    for (const auto& [keyword, value] : *node.members()) {
      if (std::find(std::begin(kKeywords), std::end(kKeywords), keyword) == std::end(kKeywords))
        throw std::logic_error(fmt::format("{}: nothing checks the keyword {}", node.pointer(), keyword));
      if (keyword == "$ref") fill(shape, referred(*value.string()));
      if (keyword == "anyOf") {
        for (const JsonNode& each : *value.items()) fill(shape, each);
      }
      if (keyword == "type") add_types(shape, value);
      if (keyword == "const") shape.words.push_back(*value.string());
      if (keyword == "enum") {
        for (const JsonNode& word : *value.items()) shape.words.push_back(*word.string());
      }
      if (keyword == "minimum") shape.minimum = std::get<std::int64_t>(value.value);
      if (keyword == "maximum") shape.maximum = std::get<std::int64_t>(value.value);
      if (keyword == "minLength")
        shape.shortest = static_cast<std::size_t>(std::get<std::int64_t>(value.value));
      if (keyword == "items") shape.items = shape_of(value);
      if (keyword == "additionalProperties") shape.others = shape_of(value);
      if (keyword == "properties") {
        for (const auto& [name, property] : *value.members()) shape.properties[name] = shape_of(property);
      }
      if (keyword == "required") {
        for (const JsonNode& name : *value.items()) shape.required.push_back(*name.string());
      }
    }
  }

  static void add_types(Shape& shape, const JsonNode& value) {
    if (value.string() != nullptr) shape.types.push_back(&type_named(*value.string()));
    if (value.items() == nullptr) return;
    for (const JsonNode& each : *value.items()) shape.types.push_back(&type_named(*each.string()));
  }

  const JsonNode& referred(std::string_view reference) const {
    constexpr std::string_view kPrefix = "#/definitions/";
    return *root_.member("definitions")->member(reference.substr(kPrefix.size()));
  }

  const JsonNode& root_;
  std::map<const JsonNode*, Shape> shapes_;
};

class SchemaCheck {
 public:
  explicit SchemaCheck(const std::string& file) : file_(file) {}

  void check(const JsonNode& node, const Shape& shape) const {
    check_type(node, shape);
    if (const std::string* text = node.string()) check_text(node, *text, shape);
    check_range(node, shape);
    if (node.items() != nullptr && shape.items != nullptr) {
      for (const JsonNode& item : *node.items()) check(item, *shape.items);
    }
    if (node.members() != nullptr) check_members(node, shape);
  }

 private:
  [[noreturn]] void wrong(const JsonNode& node, const std::string& expected) const {
    throw ReportError(fmt::format("{}:{}: {}: found {}, expected {}", file_, node.line,
                                  node.pointer().empty() ? "/" : node.pointer(), node.describe(), expected));
  }

  void check_type(const JsonNode& node, const Shape& shape) const {
    const auto fits = [&](const JsonType* type) { return type->holds(node); };
    if (shape.types.empty() || std::any_of(shape.types.begin(), shape.types.end(), fits)) return;
    std::vector<std::string> words;
    for (const JsonType* type : shape.types) words.emplace_back(type->in_words);
    wrong(node, listed(words, "or"));
  }

  void check_range(const JsonNode& node, const Shape& shape) const {
    const bool bounded = shape.maximum != INT64_MAX;
    const auto* number = std::get_if<std::int64_t>(&node.value);
    const auto* real = std::get_if<double>(&node.value);
    const bool low = number != nullptr && *number < shape.minimum;
    const bool beyond = real != nullptr || std::holds_alternative<std::uint64_t>(node.value);
    const bool high = bounded && (beyond || (number != nullptr && *number > shape.maximum));
    if (!low && !high) return;
    wrong(node, bounded ? fmt::format("a whole number from {} to {}", shape.minimum, shape.maximum)
                        : fmt::format("a whole number from {}", shape.minimum));
  }

  void check_text(const JsonNode& node, const std::string& text, const Shape& shape) const {
    if (text.size() < shape.shortest)
      wrong(node, fmt::format("a string of at least {} bytes", shape.shortest));
    if (shape.words.empty() || std::find(shape.words.begin(), shape.words.end(), text) != shape.words.end())
      return;
    std::vector<std::string> words;
    for (const std::string& word : shape.words) words.push_back(fmt::format("\"{}\"", word));
    wrong(node, listed(words, "or"));
  }

  void check_members(const JsonNode& node, const Shape& shape) const {
    for (const std::string& key : shape.required) {
      if (node.member(key) == nullptr) wrong(node, fmt::format("a member \"{}\"", key));
    }
    for (const auto& [key, value] : *node.members()) {
      const auto property = shape.properties.find(key);
      const Shape* rule = property != shape.properties.end() ? property->second : shape.others;
      if (rule != nullptr) check(value, *rule);
    }
  }

  const std::string& file_;
};

const Schema& schema_named(std::string_view name) {
  static const std::map<std::string, JsonNode, std::less<>> texts = [] {
    std::map<std::string, JsonNode, std::less<>> all;
    for (const EmbeddedFile& file : embedded_schemas()) all.emplace(file.name, parse_located_json(file.text));
    return all;
  }();
  static const std::map<std::string, Schema, std::less<>> schemas = [] {
    std::map<std::string, Schema, std::less<>> all;
    for (const char* each : {"baseline.schema.json", "report.schema.json"}) all.emplace(each, texts.at(each));
    return all;
  }();
  return schemas.find(name)->second;
}

}  // namespace

void check_schema(const JsonNode& value, std::string_view schema, const std::string& file) {
  SchemaCheck(file).check(value, *schema_named(schema).whole);
}

}  // namespace dtype_guard
