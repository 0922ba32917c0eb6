// The cases that the design rests on; differential_torch.py compares the whole table with PyTorch.
#include "rules/dtype/promotion.h"

#include "tests/catch.h"

using namespace dtype_guard;

namespace {

PromotionResult typed(std::vector<ResultTypeOperand> operands) { return result_type(operands); }
bool throws(const PromotionResult& result) { return std::holds_alternative<PromotionError>(result); }

}  // namespace

TEST_CASE("promote_types joins two dtypes") {
  CHECK(promote_types(Dtype::kFloat16, Dtype::kBFloat16) == PromotionResult(Dtype::kFloat32));
  CHECK(promote_types(Dtype::kInt64, Dtype::kFloat16) == PromotionResult(Dtype::kFloat16));
  CHECK(promote_types(Dtype::kBFloat16, Dtype::kComplex32) == PromotionResult(Dtype::kComplex64));
  CHECK(promote_types(Dtype::kUInt8, Dtype::kInt8) == PromotionResult(Dtype::kInt16));
  CHECK(promote_types(Dtype::kFloat8_e5m2, Dtype::kFloat8_e5m2) == PromotionResult(Dtype::kFloat8_e5m2));
  CHECK(promote_types(Dtype::kUInt16, Dtype::kFloat32) == PromotionResult(Dtype::kFloat32));
}

TEST_CASE("pairs that PyTorch refuses are errors with its reason") {
  CHECK(throws(promote_types(Dtype::kFloat8_e5m2, Dtype::kFloat16)));
  CHECK(throws(promote_types(Dtype::kUInt16, Dtype::kInt32)));
  CHECK(throws(promote_types(Dtype::kQInt8, Dtype::kFloat32)));
  CHECK(throws(promote_types(Dtype::kInt4, Dtype::kInt8)));
  const auto refused = promote_types(Dtype::kFloat8_e5m2, Dtype::kFloat16);
  CHECK(std::get<PromotionError>(refused).reason ==
        "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and Half");
  CHECK(promote_types(Dtype::kBits8, Dtype::kFloat16) == PromotionResult(Dtype::kUndefined));
}

TEST_CASE("promotion is symmetric over all pairs") {
  for (Dtype a : all_dtypes()) {
    for (Dtype b : all_dtypes()) {
      const auto ab = promote_types(a, b);
      const auto ba = promote_types(b, a);
      CHECK(throws(ab) == throws(ba));
      if (!throws(ab)) CHECK(ab == ba);
    }
  }
}

TEST_CASE("only a tensor of one or more dimensions widens its partner") {
  const ResultTypeOperand half{Dtype::kBFloat16, RankClass::kDim};
  CHECK(typed({half, {Dtype::kFloat32, RankClass::kDim}}) == PromotionResult(Dtype::kFloat32));
  CHECK(typed({half, {Dtype::kFloat32, RankClass::kZeroDim}}) == PromotionResult(Dtype::kBFloat16));
  CHECK(typed({half, {Dtype::kFloat64, RankClass::kWrapped}}) == PromotionResult(Dtype::kBFloat16));
  CHECK(typed({{Dtype::kBFloat16, RankClass::kZeroDim}, {Dtype::kFloat32, RankClass::kZeroDim}}) ==
        PromotionResult(Dtype::kFloat32));
  CHECK(typed({{Dtype::kInt64, RankClass::kDim}, {Dtype::kFloat64, RankClass::kWrapped}}) ==
        PromotionResult(Dtype::kFloat32));
  CHECK(typed({{Dtype::kFloat16, RankClass::kDim}, {Dtype::kComplex128, RankClass::kZeroDim}}) ==
        PromotionResult(Dtype::kComplex32));
  CHECK(typed({}) == PromotionResult(Dtype::kUndefined));
}
