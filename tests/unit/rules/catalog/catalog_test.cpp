#include "rules/catalog/catalog.h"

#include "tests/catch.h"

using namespace dtype_guard;

TEST_CASE("the catalog holds all rules in order of precedence") {
  const std::vector<std::string> expected = {"discarded-cast",
                                             "dtype-guard-misses-promotion",
                                             "unregistered-buffer",
                                             "dlpack-dtype-mismatch",
                                             "kv-cache-dtype-mismatch",
                                             "rotary-dtype-mismatch",
                                             "attention-mask-dtype",
                                             "version-dependent-dtype",
                                             "autocast-fp32-operator",
                                             "attention-implicit-promotion",
                                             "attention-mixed-dtypes",
                                             "attention-unsupported-dtype",
                                             "operator-mixed-dtypes",
                                             "silent-attention-fallback",
                                             "suppression-without-reason",
                                             "stale-suppression"};
  std::vector<std::string> ids;
  for (const Rule& rule : catalog()) ids.push_back(rule.id);
  CHECK(ids == expected);
}

TEST_CASE("every page has a summary and all sections") {
  for (const Rule& rule : catalog()) {
    CAPTURE(rule.id);
    CHECK_FALSE(rule.summary.empty());
    CHECK(rule.summary.back() != '.');
    CHECK(rule.text.rfind("# " + rule.id + "\n", 0) == 0);
    for (const char* part : {"## What it says\n", "## Why it matters\n", "## Example\n", "Bad:\n", "Good:\n",
                             "```cpp\n", "## Fix\n", "## Known misses\n"}) {
      CAPTURE(part);
      CHECK(rule.text.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("a rule is found by its id and suggested for a misspelt one") {
  CHECK(find_rule("discarded-cast")->id == "discarded-cast");
  CHECK(find_rule("discarded") == nullptr);
  CHECK(find_rule("") == nullptr);
  CHECK(nearest_rule("attention-mixed-dtype") == "attention-mixed-dtypes");
  CHECK(nearest_rule("attention-mixd") == "attention-mixed-dtypes");
  CHECK(nearest_rule("attention-mixed") == "attention-mixed-dtypes");
  CHECK(nearest_rule("attn").empty());
  CHECK(nearest_rule("bugprone-everything-else").empty());
}
