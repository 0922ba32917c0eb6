// Composites that the table describes by the calls that they are made of.
#include "rules/operators/operators.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

constexpr auto kDim = RankClass::kDim;

std::optional<Dtype> result(std::string_view op, std::vector<OperatorInput> inputs,
                            const OperatorContext& context = {}) {
  const Operator* found = find_operator(op);
  REQUIRE(found != nullptr);
  return evaluate(*found, inputs, std::nullopt, context).dtype;
}

}  // namespace

TEST_CASE("every step calls an entry and takes what stands before it") {
  std::size_t steps = 0;
  for (const std::vector<Operator>* list : {&all_operators(), &all_variants()}) {
    for (const Operator& op : *list) {
      for (std::size_t i = 0; i < op.steps.size(); ++i, ++steps) {
        CAPTURE(op.name, i, op.steps[i].name);
        const Operator* called = find_operator(op.steps[i].name);
        REQUIRE(called != nullptr);
        CHECK(called->steps.size() < 20);
        CHECK(op.steps[i].operands.size() <= called->arguments.size());
        for (const std::string& operand : op.steps[i].operands) {
          if (operand.front() == '#') CHECK(std::stoul(operand.substr(1)) < i);
        }
      }
    }
  }
  CHECK(steps > 60);
}

TEST_CASE("a composite's dtype is that of its last step") {
  // exp makes float32 of the integers, which a half target cannot narrow.
  CHECK(result("poisson_nll_loss", {{"self", Dtype::kInt64, kDim}, {"target", Dtype::kFloat16, kDim}}) ==
        Dtype::kFloat32);
  CHECK(result("poisson_nll_loss", {{"self", Dtype::kFloat16, kDim}, {"target", Dtype::kFloat16, kDim}}) ==
        Dtype::kFloat16);
  // A step that throws makes the composite throw: mul_ stores no complex number in a float tensor.
  CHECK_FALSE(
      result("soft_margin_loss", {{"self", Dtype::kFloat32, kDim}, {"target", Dtype::kComplex64, kDim}}));
}

TEST_CASE("autocast acts on each step, or on the composite that it lists") {
  OperatorContext cpu;
  cpu.device = "cpu";
  cpu.autocast = Dtype::kBFloat16;
  CHECK(result("cov", {{"self", Dtype::kInt64, kDim}}, cpu) == Dtype::kBFloat16);
  CHECK(result("cov", {{"self", Dtype::kInt64, kDim}}) == Dtype::kFloat32);
  CHECK(result("soft_margin_loss", {{"self", Dtype::kBFloat16, kDim}, {"target", Dtype::kBFloat16, kDim}},
               cpu) == Dtype::kFloat32);
}

TEST_CASE("an einsum that sums over nothing promotes, one that sums throws for mixed dtypes") {
  const std::vector<OperatorInput> mixed = {{"tensors", Dtype::kInt64, kDim},
                                            {"tensors", Dtype::kFloat32, kDim}};
  CHECK(result("einsum.mul", mixed) == Dtype::kFloat32);
  CHECK_FALSE(result("einsum", mixed));
  OperatorContext cuda;
  cuda.autocast = Dtype::kFloat16;
  CHECK(result("einsum.mul", {{"tensors", Dtype::kFloat32, kDim}, {"tensors", Dtype::kFloat32, kDim}},
               cuda) == Dtype::kFloat16);
}

TEST_CASE("what is refused of all operands, of one, and of entries of any file") {
  CHECK_FALSE(result("normal", {{"mean", Dtype::kFloat32, kDim}, {"std", Dtype::kComplex64, kDim}}));
  CHECK(result("normal", {{"mean", Dtype::kComplex64, kDim}, {"std", Dtype::kFloat32, kDim}}) ==
        Dtype::kComplex64);
  for (const char* op : {"clamp", "clamp_", "maximum", "floor", "sort"}) {
    CAPTURE(op);
    const std::string first = find_operator(op)->arguments.front();
    CHECK_FALSE(result(op, {{first, Dtype::kComplex64, kDim}}));
    CHECK(result(op, {{first, Dtype::kFloat16, kDim}}) == Dtype::kFloat16);
  }
}

TEST_CASE("what an out= tensor may be follows the kind of the input") {
  const auto abs_out = [](Dtype out, Dtype in) {
    return result("abs_out", {{"out", out, kDim}, {"self", in, kDim}});
  };
  CHECK(abs_out(Dtype::kFloat16, Dtype::kComplex64) == Dtype::kFloat16);
  CHECK(abs_out(Dtype::kComplex64, Dtype::kComplex64) == Dtype::kComplex64);
  CHECK_FALSE(abs_out(Dtype::kFloat16, Dtype::kFloat32));
  CHECK_FALSE(abs_out(Dtype::kComplex128, Dtype::kComplex64));
  CHECK(result("logsumexp_out", {{"out", Dtype::kFloat16, kDim}, {"self", Dtype::kFloat32, kDim}}) ==
        Dtype::kFloat16);
  CHECK_FALSE(result("fft_ifft_out", {{"out", Dtype::kComplex128, kDim}, {"self", Dtype::kFloat32, kDim}}));
  CHECK(result("fft_ifft_out", {{"out", Dtype::kComplex128, kDim}, {"self", Dtype::kComplex64, kDim}}) ==
        Dtype::kComplex128);
}
