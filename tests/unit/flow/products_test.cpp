// Attention that is written by hand: products of matrices whose inputs derive from scores or a rotary
// embedding.
#include "analyzer/flow/operators/contractions.h"
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

TEST_CASE("a product that is not part of attention has no findings") {
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

// Queries that were widened, without a rotary embedding, times keys: %12. `after` makes something of it.
std::string plain_main(const std::string& after) {
  return attention_main(
      "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9\n"
      "  %12 = op matmul(self=%11, other=%2) ; 8:3-8:9\n" +
          after,
      "%1", "%2", "%3");
}
const std::string kWeights = "  %13 = op softmax(self=%12)\n";

TEST_CASE("queries times keys begin attention when a softmax and another product follow") {
  const Found found = {
      "7 attention-mixed-dtypes left in main [autocast-fp16 autocast-bf16 "
      "fp16-fp32-buffers bf16-fp32-buffers]"};
  CHECK(summary(lint(plain_main(kWeights + "  %14 = op matmul(self=%13, other=%3)\n"))) == found);
  CHECK(findings(plain_main("")).empty());
  CHECK(findings(plain_main(kWeights)).empty());
  CHECK(findings(plain_main("  %14 = op matmul(self=%12, other=%3)\n")).empty());
}

TEST_CASE("what follows is looked for through scales, masks, variables and branches") {
  const std::string through =
      "  %13 = const 0.125\n  %14 = op mul(self=%12, other=%13)\n  store a, %14\n  %15 = op "
      "defined(self=%2)\n"
      "  branch %15 ? b1 : b2\nb1:\n  %16 = load a\n  %17 = op add(self=%16, other=%2)\n  store a, %17\n"
      "  jump b2\nb2:\n  %18 = load a\n  %19 = op to(self=%18, dtype=%103)\n  %20 = op softmax(self=%19)\n"
      "  %21 = op to(self=%20, dtype=%102)\n  store b, %21\n  %22 = load b\n"
      "  %23 = op bmm(self=%22, mat2=%3)\n";
  CHECK(findings(plain_main(through)).size() == 1);
}

// Queries times keys in one function, the softmax in another, the second product in `main`.
std::string scores_elsewhere(const std::string& weights) {
  return R"IR(
function scores key scores
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = op matmul(self=%1, other=%2) ; 3:3-3:9
  return %3

function weights key weights
  parameter s: tensor
b0:
  %1 = param 0
)IR" + weights +
         attention_main(
             "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9\n  %12 = call scores(%11, %2)\n"
             "  %13 = call weights(%12)\n  %14 = op matmul(self=%13, other=%11)\n",
             "%1", "%2", "%3");
}

TEST_CASE("attention is known also when its parts stand in functions of their own") {
  CHECK(findings(scores_elsewhere("  %2 = op softmax(self=%1)\n  return %2\n")).size() == 1);
  CHECK(findings(scores_elsewhere("  %2 = op relu(self=%1)\n  return %2\n")).empty());
  CHECK(findings(scores_elsewhere(
                     "  %2 = op linear(input=%1, weight=%1)\n  %3 = op softmax(self=%2)\n  return %3\n"))
            .empty());
}

TEST_CASE("a product is attention in the call that makes it so, and in no other") {
  const std::string twice = scores_elsewhere("  %2 = op softmax(self=%1)\n  return %2\n");
  const std::string right = attention_main(
      "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9\n  %12 = call scores(%11, %2)\n"
      "  %15 = call scores(%1, %2)\n  %13 = call weights(%15)\n  %14 = op matmul(self=%13, other=%3)\n",
      "%1", "%2", "%3");
  CHECK(findings(twice.substr(0, twice.find("function main")) + right.substr(right.find("function main")))
            .empty());
}

// Queries that were widened, and made %13 of, times themselves; the weights are cast back.
std::string wide_main(const std::string& between) {
  return attention_main("  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9\n" + between +
                            "  %14 = op matmul(self=%13, other=%13)\n  %15 = op softmax(self=%14)\n"
                            "  %16 = op to(self=%15, dtype=%102)\n  %17 = op matmul(self=%16, other=%3)\n",
                        "%1", "%2", "%3");
}

TEST_CASE("a product that is computed wide is found where no cast asks for it") {
  const auto wide = [](const std::string& between) { return findings(wide_main(between)); };
  CHECK(wide("  %13 = op relu(self=%11)\n").size() == 1);
  CHECK(wide("  %13 = op to(self=%11, dtype=%103)\n").empty());
  // The dtype of what was widened is no request, nor is a request that it takes back.
  CHECK(wide("  %12 = dtype_of %11\n  %13 = op to(self=%11, dtype=%12)\n").size() == 1);
  CHECK(wide("  %12 = dtype_of %11\n  %20 = op to(self=%11, dtype=%103)\n  %21 = op relu(self=%20)\n"
             "  %13 = op to(self=%21, dtype=%12)\n")
            .size() == 1);
}

TEST_CASE("a cast of one operand asks for a wide product, and so for the other operand as it is") {
  const auto beside = [](const std::string& queries) {
    return findings(
        attention_main("  %10 = op ones(%101)\n  %11 = op mul(%2, %10) ; 7:3-7:9\n" + queries +
                           "  %14 = op matmul(self=%13, other=%11)\n  %15 = op softmax(self=%14)\n"
                           "  %16 = op to(self=%15, dtype=%102)\n  %17 = op matmul(self=%16, other=%3)\n",
                       "%1", "%2", "%3"));
  };
  CHECK(beside("  %13 = op to(self=%1, dtype=%103)\n").empty());
  CHECK(beside("  %13 = op mul(%1, %10)\n").size() == 2);
}

TEST_CASE("a cast to the dtype that is there already is where a call's operand became wide") {
  const auto at_call = [](const std::string& cast) {
    return findings(attention_main("  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9\n" + cast, "%12",
                                   "%2", "%3"));
  };
  CHECK(at_call("  %12 = op relu(self=%11)\n").front().starts_with("7 attention-implicit-promotion"));
  CHECK(at_call("  %12 = op to(self=%11, dtype=%103) ; 8:3-8:9\n").front().starts_with("8 attention-mixed"));
  CHECK(at_call("  %12 = op float(self=%11) ; 8:3-8:9\n").front().starts_with("8 attention-mixed"));
  CHECK(at_call("  %13 = dtype_of %11\n  %12 = op to(self=%11, dtype=%13) ; 8:3-8:9\n")
            .front()
            .starts_with("7 attention-implicit-promotion"));
}

TEST_CASE("a softmax of something else makes no scores of a product") {
  const auto with = [](const std::string& between) {
    return plain_main(
        "  store a, %12\n" + between +
        "  %13 = load a\n  %14 = op softmax(self=%13)\n  %15 = op matmul(self=%14, other=%3)\n");
  };
  CHECK(findings(with("")).size() == 1);
  CHECK(findings(with("  store a, %2\n")).empty());
  CHECK(findings(with("  %16 = load a\n  %17 = op linear(input=%16, weight=%2)\n  store a, %17\n")).empty());
  CHECK(findings(with("  %16 = load a\n  %17 = op gt(self=%16, other=%2)\n  store a, %17\n")).empty());
}

TEST_CASE("lineage: a table is no rotation, scores are a softmax of a product, and both end somewhere") {
  CHECK(lineage_after("cos", {kNoLineage}) == (kTable | kCosine));
  CHECK(lineage_after("cat", {kTable, kTable}) == kTable);
  CHECK(lineage_after("mul", {kNoLineage, kTable}) == kRotated);
  CHECK(is_turned(lineage_after("add", {lineage_after("mul", {kNoLineage, kTable | kCosine}),
                                        lineage_after("mul", {kTable | kSine, kNoLineage})})));
  CHECK(!is_turned(lineage_after("mul", {kNoLineage, kTable | kCosine | kSine})));
  CHECK(lineage_after("mul", {kTable}) == kTable);
  CHECK(lineage_after("softmax", {kRotated}) == kRotated);
  CHECK(lineage_after("softmax", {lineage_after("bmm", {kRotated, kRotated})}) == kScores);
  CHECK(lineage_after("matmul", {kScores, kNoLineage}) == kAttended);
  CHECK(is_of_attention_code(lineage_after("mul", {kAttended, kNoLineage})));
  CHECK(lineage_after("linear", {kAttended, kNoLineage}) == kNoLineage);
  CHECK(lineage_after("linear", {kScores, kNoLineage}) == kNoLineage);
}

}  // namespace
}  // namespace dtype_guard::flow
