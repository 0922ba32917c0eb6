// Reads a JSON report back, through the members that fields.h lists. Unknown members are ignored, so that a
// newer tool's report still loads; what the schema refuses is an error that names its place.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"
#include "rules/report/fields.h"
#include "rules/report/schema_check.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kSchema = "dtype-guard/report/1";

// Fills the members of one object from a JSON object; what is absent or null stays as it is.
class FieldReader {
 public:
  FieldReader(const std::string& file, const JsonNode& object) : file_(file), object_(object) {
    if (object.members() == nullptr) wrong(object, "an object");
  }

  template <typename Value>
  void operator()(std::string_view key, Value& into) const {
    if (const JsonNode* node = present(key)) read(*node, into);
  }

  const JsonNode* present(std::string_view key) const {
    const JsonNode* node = object_.member(key);
    return node == nullptr || node->is_null() ? nullptr : node;
  }

  [[noreturn]] void wrong(const JsonNode& node, const std::string& expected) const {
    throw ReportError(fmt::format("{}:{}: {}: found {}, expected {}", file_, node.line,
                                  node.pointer().empty() ? "/" : node.pointer(), node.describe(), expected));
  }

 private:
  void read(const JsonNode& node, std::string& into) const {
    if (node.string() == nullptr) wrong(node, "a string");
    into = *node.string();
  }

  void read(const JsonNode& node, bool& into) const {
    if (node.boolean() == nullptr) wrong(node, "true or false");
    into = *node.boolean();
  }

  template <std::integral Number>
  void read(const JsonNode& node, Number& into) const {
    using Limits = std::numeric_limits<Number>;
    const auto fits = [&](const auto* value) {
      if (value == nullptr || !std::in_range<Number>(*value)) return false;
      into = static_cast<Number>(*value);
      return true;
    };
    if (fits(std::get_if<std::int64_t>(&node.value)) || fits(std::get_if<std::uint64_t>(&node.value))) return;
    wrong(node, fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()));
  }

  void read(const JsonNode& node, Level& into) const {
    word(node, into, &parse_level, "\"error\", \"warning\" or \"note\"");
  }
  void read(const JsonNode& node, Certainty& into) const {
    word(node, into, &parse_certainty, "\"definite\" or \"possible\"");
  }

  template <typename Value>
  void word(const JsonNode& node, Value& into, std::optional<Value> (*parse)(std::string_view),
            const std::string& words) const {
    std::string written;
    read(node, written);
    const auto parsed = parse(written);
    if (!parsed) wrong(node, words);
    into = *parsed;
  }

  template <typename Item>
  void read(const JsonNode& node, std::vector<Item>& into) const {
    if (node.items() == nullptr) wrong(node, "an array");
    for (const JsonNode& item : *node.items()) read(item, into.emplace_back());
  }

  template <typename Value>
  void read(const JsonNode& node, std::optional<Value>& into) const {
    read(node, into.emplace());
  }

  void read(const JsonNode& node, std::map<std::string, std::uint64_t>& into) const {
    if (node.members() == nullptr) wrong(node, "an object of API names and counts");
    for (const auto& [key, count] : *node.members()) read(count, into[key]);
  }

  template <typename Object>
  requires std::is_class_v<Object>
  void read(const JsonNode& node, Object& into) const {
    const FieldReader inner(file_, node);
    each_field(into, inner);
    if constexpr (std::same_as<Object, Finding>) check_origins(node, into);
  }

  // An origin is an index into the path of the same finding; checked here, so that its users need not.
  void check_origins(const JsonNode& node, const Finding& finding) const {
    for (std::size_t i = 0; i < finding.operands.size(); ++i) {
      const auto& origin = finding.operands[i].origin;
      if (!origin || *origin < finding.path.size()) continue;
      wrong(*(*node.member("operands")->items())[i].member("origin"),
            fmt::format("an index into this finding's path of {} steps", finding.path.size()));
    }
  }

  const std::string& file_;
  const JsonNode& object_;
};

Report read_report(const JsonNode& root, const std::string& file) {
  const FieldReader get(file, root);
  const JsonNode* schema = root.member("schema");
  if (schema == nullptr || schema->string() == nullptr || *schema->string() != kSchema) {
    get.wrong(schema != nullptr ? *schema : root, fmt::format("a report with \"schema\": \"{}\"", kSchema));
  }
  check_schema(root, "report.schema.json", file);
  Report report;
  const FieldReader tool(file, *root.member("tool"));
  tool("name", report.tool);
  tool("version", report.tool_version);
  get("root", report.root);
  get("findings", report.findings);
  get("not_analysed", report.not_analysed);
  get("calls", report.calls);
  get("unseen_calls", report.unseen);
  std::vector<FileSight> files;
  get("files", files);
  for (FileSight& each : files) report.files.push_back(std::move(each.file));
  get("watched", report.watched);
  if (const JsonNode* summary = get.present("summary"))
    FieldReader(file, *summary)("files", report.files_analysed);
  return report;
}

}  // namespace

Report read_json(std::string_view text, const std::string& file) {
  try {
    return read_report(parse_located_json(text), file);
  } catch (const JsonError& error) {
    throw ReportError(fmt::format("{}:{}: {}: {}", file, error.line,
                                  error.pointer.empty() ? "/" : error.pointer, error.problem));
  }
}

}  // namespace dtype_guard
