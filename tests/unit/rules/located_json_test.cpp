#include "rules/data/located_json.h"

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
  CHECK_THROWS_WITH(parse_located_json("[\n1e400]"),
                    "line 2: found malformed JSON: number overflow parsing '1e400'");
}

TEST_CASE("the nearest name is close or none") {
  const std::vector<std::string> names = {"attention", "rotary", "q", "k"};
  CHECK(nearest_name("atention", names) == "attention");
  CHECK(nearest_name("roatry", names) == "rotary");
  CHECK(nearest_name("something", names).empty());
  CHECK(nearest_name(std::string(100000, 'a'), names).empty());
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("", "abc") == 3);
}
