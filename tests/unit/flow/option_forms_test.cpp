// Operators whose dtype hangs on an option, or on the dtypes and ranks of what they are given; and shapes, by
// each name that the headers have for them.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
const std::string kSizes = "  %20 = const 8\n  %21 = pack(%20, %20)\n";

// How many findings there are when %10 is the query.
std::size_t as_query(const std::string& makes_10, const LintOptions& options = {{"bf16"}}) {
  return findings(attention_main(kSizes + makes_10, "%10", "%2", "%3"), options).size();
}
// The same when a bfloat16 query is multiplied by %10.
std::size_t as_factor(const std::string& makes_10, const LintOptions& options = {{"bf16"}}) {
  const std::string product = "  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * w\"\n";
  return findings(attention_main(kSizes + makes_10 + product, "%11", "%2", "%3"), options).size();
}
std::string autocast(const std::string& device) {
  return "  %30 = const true\n  set_autocast " + device + "(on=%30, dtype=%102)\n";
}
std::string constant(const std::string& value) { return "  %13 = const " + value + "\n"; }

TEST_CASE("a shape tells the rank by each name that the headers have for it") {
  const auto shaped = [](const std::string& call) {
    return as_factor("  %12 = const unknown\n  %14 = op ones(%12)\n  %10 = op " + call + "\n");
  };
  for (const char* call :
       {"view(self=%14, size=%21)", "reshape(self=%14, shape=%21)", "repeat(self=%14, repeats=%21)",
        "tile(self=%14, dims=%21)", "from_blob(data=%14, sizes=%21)"}) {
    CAPTURE(call);
    CHECK(shaped(call) == 1);
  }
  CHECK(shaped("reshape(self=%14, shape=%12)") == 0);
  CHECK(shaped("tile(self=%14, dims=%12)") == 0);
}

TEST_CASE("dropout that does not train passes integers on") {
  const auto dropped = [](const std::string& flag, const std::string& value) {
    return as_query(constant(value) + "  %12 = op arange(%20)\n  %10 = op dropout(input=%12, " + flag +
                    "=%13)\n");
  };
  CHECK(dropped("train", "false") == 1);
  CHECK(dropped("training", "false") == 1);
  CHECK(dropped("train", "true") == 0);
  CHECK(dropped("train", "unknown") == 0);
}

TEST_CASE("autocast sees no product in the powers 0, 1 and -1 of a matrix") {
  const auto raised = [](const std::string& name, const std::string& n) {
    return as_factor(autocast("cuda") + constant(n) + "  %12 = op ones(%21)\n  %10 = op " + name +
                     "(self=%12, n=%13)\n");
  };
  for (const char* name : {"matrix_power", "linalg_matrix_power"}) {
    CHECK(raised(name, "1") == 1);
    CHECK(raised(name, "0") == 1);
    CHECK(raised(name, "-1") == 1);
    CHECK(raised(name, "2") == 0);
    CHECK(raised(name, "-2") == 0);
    CHECK(raised(name, "unknown") == 0);
  }
}

TEST_CASE("a loss of integers is an integer unless it is a mean") {
  for (const char* name : {"l1_loss", "hinge_embedding_loss"}) {
    const auto lost = [&](const std::string& reduction) {
      return as_query(constant(reduction) + "  %12 = op arange(%20)\n  %10 = op " + name +
                      "(self=%12, target=%12, reduction=%13)\n");
    };
    for (const char* reduction : {"0", "2", "\"none\"", "\"sum\""}) {
      CAPTURE(name, reduction);
      CHECK(lost(reduction) == 1);
    }
    for (const char* reduction : {"1", "\"mean\"", "unknown"}) CHECK(lost(reduction) == 0);
  }
}

TEST_CASE("weights decide what bincount counts in") {
  const auto counted = [](const std::string& makes_13) {
    return as_query("  %12 = op arange(%20)\n" + makes_13 + "  %10 = op bincount(self=%12, weights=%13)\n");
  };
  CHECK(counted("  %13 = op ones(%21)\n") == 1);
  CHECK(counted("  %13 = op arange(%20)\n") == 1);
  CHECK(counted(constant("unknown")) == 0);
}

TEST_CASE("a target of floats makes cross entropy multiply") {
  const auto lost = [](const std::string& makes_13) {
    return as_query(makes_13 + "  %10 = op cross_entropy_loss(self=%1, target=%13)\n");
  };
  CHECK(lost("  %13 = op ones(%21)\n") == 1);
  CHECK(lost("  %13 = op arange(%20)\n") == 0);
  CHECK(lost("  %13 = param 9\n") == 0);
}

TEST_CASE("the rank decides which pooling and which border autocast on the CPU meets") {
  const LintOptions cpu{{"bf16"}, false, "cpu"};
  const auto asked = [&](int dimensions, const std::string& call) {
    std::string shape = "  %12 = pack(%20";
    for (int i = 1; i < dimensions; ++i) shape += ", %20";
    return as_query(autocast("cpu") + shape + ")\n  %14 = op view(self=%1, size=%12)\n" +
                        constant("\"reflect\"") + "  %10 = op " + call + "\n",
                    cpu);
  };
  CHECK(asked(3, "local_response_norm(input=%14)") == 0);
  CHECK(asked(4, "local_response_norm(input=%14)") == 1);
  const std::string unknown = "  %15 = const unknown\n  %14 = op view(self=%1, size=%15)\n";
  CHECK(as_query(autocast("cpu") + unknown + "  %10 = op local_response_norm(input=%14)\n", cpu) == 0);
  CHECK(asked(3, "pad(self=%14, mode=%13)") == 1);
  CHECK(asked(5, "pad(self=%14, mode=%13)") == 0);
  CHECK(asked(4, "pad(self=%14, mode=%13)") == 0);
}

TEST_CASE("a transform says whether it is complex, and vectors make another product than matrices") {
  const auto transformed = [](const std::string& call, const std::string& complex) {
    return as_query(constant(complex) + "  %12 = op ones(%21)\n  %10 = op " + call + "\n");
  };
  CHECK(transformed("stft(self=%12, return_complex=%13)", "false") == 1);
  CHECK(transformed("stft(self=%12, return_complex=%13)", "unknown") == 0);
  const LintOptions cpu{{"bf16"}, false, "cpu"};
  const auto inner = [&](const std::string& sizes) {
    return as_query(autocast("cpu") + "  %12 = pack(" + sizes +
                        ")\n  %14 = op ones(%12)\n  %10 = op inner(self=%14, tensor=%14)\n",
                    cpu);
  };
  CHECK(inner("%20") == 1);
  CHECK(inner("%20, %20") == 0);
}

TEST_CASE("what is put before or behind differences promotes them") {
  const auto differed = [](const std::string& name) {
    return as_query("  %12 = op ones(%21)\n  %10 = op diff(self=%1, " + name + "=%12)\n");
  };
  CHECK(differed("prepend") == 1);
  CHECK(differed("append") == 1);
  CHECK(as_query("  %10 = op diff(self=%1)\n") == 0);
}

}  // namespace
}  // namespace dtype_guard::flow
