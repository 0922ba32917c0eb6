#include "rules/data/located_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "rules/data/json_parser.h"
#include "rules/text/nearest_name.h"
#include "tests/catch.h"

using namespace dtype_guard;

TEST_CASE("every value knows its line and its pointer") {
  const JsonNode root = parse_located_json("{\n\"a\": [1,\n 2\n],\n\"b/c~\": {\"d\":\n3.5\n}, \"e\": null}");
  CHECK(root.member("a")->line == 2);
  CHECK((*root.member("a")->items())[0].line == 2);
  CHECK((*root.member("a")->items())[1].line == 3);
  CHECK((*root.member("a")->items())[1].pointer() == "/a/1");
  CHECK(root.member("b/c~")->member("d")->line == 6);
  CHECK(root.member("b/c~")->member("d")->pointer() == "/b~1c~0/d");
  CHECK(root.member("e")->is_null());
  CHECK(root.member("f") == nullptr);
}

TEST_CASE("numbers keep their type") {
  const JsonNode root = parse_located_json("[18446744073709551615, -1, 2.5]");
  const auto& items = *root.items();
  CHECK(std::get<std::uint64_t>(items[0].value) == UINT64_MAX);
  CHECK(std::get<std::int64_t>(items[1].value) == -1);
  CHECK(std::get<double>(items[2].value) == 2.5);
  for (const char* two : {"2.0", "2e0", "20E-1"})
    CHECK(std::get<std::int64_t>(parse_located_json(two).value) == 2);
  CHECK(std::holds_alternative<double>(parse_located_json("1e30").value));
  CHECK_THROWS_WITH(parse_located_json("[\n1e400]"),
                    "line 2: found malformed JSON: number overflow parsing '1e400'");
}

TEST_CASE("the nearest name is close or none") {
  const std::vector<std::string> names = {"attention", "rotary", "q", "k"};
  CHECK(nearest_name("atention", names) == "attention");
  CHECK(nearest_name("roatry", names) == "rotary");
  CHECK(nearest_name("something", names).empty());
  // As near as each other: the one that begins like it.
  const std::vector<std::string> dtypes = {"float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"};
  CHECK(nearest_name("float8_e4m3", dtypes) == "float8_e4m3fn");
  CHECK(nearest_name(std::string(100000, 'a'), names).empty());
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("", "abc") == 3);
}

namespace {

struct Convert {
  nlohmann::json operator()(JsonNode::Null) const { return nullptr; }
  nlohmann::json operator()(const JsonNode::Items& items) const {
    nlohmann::json made = nlohmann::json::array();
    for (const JsonNode& item : items) made.push_back(std::visit(*this, item.value));
    return made;
  }
  nlohmann::json operator()(const JsonNode::Members& members) const {
    nlohmann::json made = nlohmann::json::object();
    for (const auto& [key, node] : members) made[key] = std::visit(*this, node.value);
    return made;
  }
  template <typename Value>
  nlohmann::json operator()(const Value& value) const {
    return value;
  }
};

nlohmann::json as_json(const JsonNode& node) { return std::visit(Convert{}, node.value); }

// What another reader makes of the text; nothing when it refuses it.
std::optional<nlohmann::json> by_another_reader(const std::string& text) {
  nlohmann::json made = nlohmann::json::parse(text, nullptr, false);
  return made.is_discarded() ? std::nullopt : std::optional(std::move(made));
}

std::optional<nlohmann::json> by_ours(const std::string& text, std::string& problem) {
  try {
    return as_json(parse_located_json(text));
  } catch (const JsonError& error) {
    problem = error.problem;
    return std::nullopt;
  }
}

// Texts near to `text`: bytes lost, doubled, replaced.
std::string broken_copy(const std::string& text, std::mt19937& choose) {
  static const std::string kBytes = "{}[]\",:\\/ue0123456789.+-tfn \n\t\x01\x7f\xc3\xa9\xed\xa0\x80\xf4\x90";
  std::string made = text;
  for (int left = 1 + static_cast<int>(choose() % 3); left > 0 && !made.empty(); --left) {
    const std::size_t at = choose() % made.size();
    const char byte = kBytes[choose() % kBytes.size()];
    switch (choose() % 3) {
      case 0:
        made.erase(at, 1);
        break;
      case 1:
        made.insert(at, 1, byte);
        break;
      default:
        made[at] = byte;
    }
  }
  return made;
}

}  // namespace

TEST_CASE("JSON is read as another reader reads it, and refused where that refuses it") {
  const std::string seed =
      R"({"a": [1, -0, 2.5e-3, 1E+2, 18446744073709551615, 18446744073709551616, -9223372036854775809], "é": "\u00e9\ud83d\ude00\n\"",
"b": {"c": null, "d": true, "e": [false, {}], "f": []}, "": "A/\/"})";
  REQUIRE(by_another_reader(seed));
  std::mt19937 choose(20);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 40000; ++i) {
    const std::string text = i == 0 ? seed : broken_copy(seed, choose);
    std::string problem;
    const auto ours = by_ours(text, problem);
    if (problem.find("twice") != std::string::npos)
      continue;  // the other reader takes the last of equal keys
    const auto others = by_another_reader(text);
    CAPTURE(text, problem);
    if (ours != others) FAIL("read differently");
    (ours ? accepted : refused) += 1;
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("what is wrong with JSON is said where it stands") {
  const auto problem = [](const std::string& text) {
    try {
      parse_located_json(text);
    } catch (const JsonError& error) {
      return fmt::format("{}:{}: {}", error.line, error.pointer, error.problem);
    }
    return std::string();
  };
  CHECK(problem("{\"a\": [1,\n 2,]}") == "2:/a: found malformed JSON at column 4: ']', expected a value");
  CHECK(problem("{\"a\": {\"b\": 1") ==
        "1:/a: found malformed JSON at column 14: the end of the text, expected ',' or '}' after a member");
  CHECK(problem("[\"\\ud800\"]") ==
        "1:: found malformed JSON at column 9: '\"', expected the second half of a surrogate pair");
  CHECK(problem("[1] 2") == "1:: found malformed JSON at column 5: '2', expected the end of the text");
  CHECK(problem("{\"a\": 1, \"a\": 2}") == "1:/a: found the key \"a\" twice, expected each key once");
  CHECK(problem("\xEF\xBB\xBF[1]").empty());
  CHECK(problem("{\"a/\\u0062\": [nul]}") ==
        "1:/a~1b: found malformed JSON at column 15: 'n', expected a value");
}
