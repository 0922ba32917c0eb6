// Operators whose dtype hangs on how they are called: with a rounding mode, with the number first, as one of
// several results.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;
const LintOptions kBf16{{"bf16"}};

// What is found when a bfloat16 query is multiplied by %10.
Found multiplied(const std::string& makes_10) {
  return findings(attention_main("  %20 = const 8\n  %21 = pack(%20, %20)\n" + makes_10 +
                                     "  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * w\"\n",
                                 "%11", "%2", "%3"),
                  kBf16);
}
const Found kPromoted{"7 attention-implicit-promotion q in main [bf16]"};

TEST_CASE("a rounding mode keeps integers, none does not, and one that is not known tells nothing") {
  const auto divided = [](const std::string& mode) {
    return multiplied("  %12 = op arange(%20)\n  %13 = const " + mode +
                      "\n  %10 = op div(self=%12, other=%20, rounding_mode=%13)\n");
  };
  CHECK(divided("\"floor\"").empty());
  CHECK(divided("unknown").empty());
  CHECK(divided("none") == kPromoted);
}

TEST_CASE(
    "an einsum of one operand that exchanges dimensions keeps their number, one that sums may leave none") {
  const auto found = [](const std::string& equation) {
    return multiplied("  %12 = const \"" + equation +
                      "\"\n  %13 = op ones(%21)\n  %14 = pack(%13)\n  %10 = op einsum(%12, %14)\n");
  };
  CHECK(found("ij->ji") == kPromoted);
  CHECK(found("ij->").empty());
}

TEST_CASE("a padding's mode leaves the dtype as it is but for what autocast does") {
  const auto found = [](const std::string& mode) {
    return multiplied("  %12 = op ones(%21)\n  %13 = const " + mode +
                      "\n  %10 = op pad(self=%12, mode=%13)\n");
  };
  for (const char* mode : {"\"reflect\"", "\"constant\"", "\"circular\"", "unknown"})
    CHECK(found(mode) == kPromoted);
}

TEST_CASE("a number before a tensor keeps the tensor's dtype") {
  const auto subtracted = [](const std::string& made, const std::string& form) {
    return multiplied("  %12 = op " + made + "\n  %13 = const 1.5\n  %10 = op " + form + "\n");
  };
  CHECK(subtracted("arange(%20)", "\"sub.number_first\"(self=%13, other=%12)").empty());
  CHECK(subtracted("arange(%20)", "sub(self=%12, other=%13)") == kPromoted);
  CHECK(subtracted("ones(%21)", "\"sub.number_first\"(self=%13, other=%12)") == kPromoted);
}

TEST_CASE("each of several results has a dtype of its own, or none that is known") {
  const auto result = [](const std::string& name) {
    return multiplied("  %12 = op ones(%21)\n  %10 = op " + name + "(self=%12)\n");
  };
  CHECK(result("sort") == kPromoted);
  CHECK(result("\"sort.1\"").empty());
  CHECK(result("\"native_layer_norm.1\"").empty());
}

TEST_CASE(
    "the largest along a dimension has a dimension fewer, the largest of all none, that of two tensors the "
    "larger rank") {
  const auto largest = [](const std::string& arguments) {
    return multiplied("  %12 = op ones(%21)\n  %13 = const 0\n  %10 = op max(" + arguments + ")\n");
  };
  CHECK(largest("self=%12, dim=%13") == kPromoted);
  CHECK(largest("self=%12, other=%12") == kPromoted);
  CHECK(largest("self=%12").empty());
}

TEST_CASE("what a flag or weights decide is not known without them") {
  const auto found = [](const std::string& makes_10) {
    return findings(attention_main("  %20 = const 8\n  %21 = pack(%20, %20)\n" + makes_10, "%10", "%2", "%3"),
                    kBf16);
  };
  const auto searched = [&](const std::string& flag) {
    return found("  %12 = op ones(%21)\n  %13 = const " + flag +
                 "\n  %10 = op bucketize(self=%12, boundaries=%12, out_int32=%13)\n");
  };
  CHECK(searched("true").size() == 1);
  CHECK(searched("false").size() == 1);
  CHECK(searched("unknown").empty());
  const auto counted = [&](const std::string& weights) {
    return found(
        "  %12 = op arange(%20)\n  %13 = op ones(%21)\n  %14 = const none\n  %10 = op bincount(self=%12, "
        "weights=" +
        weights + ")\n");
  };
  CHECK(counted("%14").size() == 1);
  CHECK(counted("%13").size() == 1);  // float32
}

TEST_CASE("what is made like an unknown tensor has no known dtype") {
  const auto like = [](const std::string& other) {
    return findings(
        attention_main("  %10 = const float32\n  %11 = op to(%1, dtype=%10) ; 5:3-5:9 \"wide\"\n"
                       "  %12 = call elsewhere(%1)\n  %13 = op type_as(%11, " +
                           other + ")\n",
                       "%13", "%2", "%3"));
  };
  CHECK(like("%11").size() == 1);
  CHECK(like("%2").empty());
  CHECK(like("%12").empty());
}

}  // namespace
}  // namespace dtype_guard::flow
