// Attention that is written by hand: products of matrices whose inputs derive from scores or a rotary
// embedding.
#include "analyzer/flow/contractions.h"
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

// x is bf16; `table` makes %10, `product` uses the rotated %11.
std::string rotary_main(const std::string& table, const std::string& product) {
  return attention_main(
      "  %20 = op ones(%101)\n" + table + "  %11 = op mul(%1, %10) ; 7:3-7:9 \"x * cos\"\n" + product, "%1",
      "%2", "%3");
}
const std::string kCos = "  %10 = op cos(%20)\n";
const std::string kMatmul = "  %12 = op matmul(self=%11, other=%3) ; 9:3-9:9\n";

TEST_CASE("a widened rotary result that meets a half value in a product is found where it was widened") {
  CHECK(summary(lint(rotary_main(kCos, kMatmul))) ==
        Found{"7 attention-mixed-dtypes left in main [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
              "bf16-fp32-buffers]"});
}

TEST_CASE("a product that has nothing to do with attention is none of our business") {
  CHECK(findings(rotary_main("  %10 = op exp(%20)\n", kMatmul)).empty());
}

TEST_CASE("scores carry on where the rotary result ends") {
  const std::string scores =
      "  %12 = op matmul(self=%11, other=%11)\n  %13 = op softmax(self=%12)\n"
      "  %14 = op matmul(self=%13, other=%3) ; 9:3-9:9\n";
  CHECK(findings(rotary_main(kCos, scores)).size() == 1);
}

TEST_CASE("only an einsum that sums is a product") {
  const auto einsum = [](const std::string& equation) {
    return "  %12 = const \"" + equation + "\"\n  %13 = pack(%11, %3)\n" +
           "  %14 = op einsum(equation=%12, tensors=%13) ; 9:3-9:9\n";
  };
  CHECK(findings(rotary_main(kCos, einsum("hqk,khd->qhd"))).size() == 1);
  CHECK(findings(rotary_main(kCos, einsum("i,j->ij"))).empty());
}

TEST_CASE("lineage: a table is no rotation, scores are a softmax of a product, and both end somewhere") {
  CHECK(lineage_after("cos", {kNoLineage}) == kTable);
  CHECK(lineage_after("cat", {kTable, kTable}) == kTable);
  CHECK(lineage_after("mul", {kNoLineage, kTable}) == kRotated);
  CHECK(lineage_after("mul", {kTable}) == kTable);
  CHECK(lineage_after("softmax", {kRotated}) == kRotated);
  CHECK(lineage_after("softmax", {lineage_after("bmm", {kRotated, kRotated})}) == kScores);
  CHECK(lineage_after("matmul", {kScores, kNoLineage}) == kNoLineage);
  CHECK(lineage_after("linear", {kScores, kNoLineage}) == kNoLineage);
}

}  // namespace
}  // namespace dtype_guard::flow
