#include "rules/operators/operators.h"

#include <set>

#include "rules/operators/library_operators.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

constexpr auto kDim = RankClass::kDim;

OperatorContext cuda_autocast(std::string_view version = "2.13") {
  OperatorContext context;
  context.autocast = Dtype::kFloat16;
  context.torch_version = version;
  return context;
}

OperatorOutcome run(std::string_view op, std::vector<OperatorInput> inputs,
                    const OperatorContext& context = {}, std::optional<Dtype> dtype = std::nullopt) {
  const Operator* found = find_operator(op);
  REQUIRE(found != nullptr);
  return evaluate(*found, inputs, dtype, context);
}

}  // namespace

TEST_CASE("all spellings of an operator find one entry") {
  for (const char* spelling :
       {"mul", "at::mul", "torch::mul", "at::Tensor::mul", "aten::mul", "aten::mul.Tensor", "torch.mul",
        "torch.Tensor.mul", "at::operator*", "operator*", "multiply", "::at::mul"}) {
    CAPTURE(spelling);
    REQUIRE(find_operator(spelling) != nullptr);
    CHECK(find_operator(spelling)->name == "mul");
  }
  CHECK(find_operator("torch::nn::functional::normalize")->name == "normalize");
  CHECK(find_operator("at::TensorBase::to")->name == "to");
  CHECK(find_operator("at::Tensor::operator[]")->name == "select");
  CHECK(find_operator("at::Tensor::mul_")->in_place);
  CHECK(find_operator("operator*=")->name == "mul_");
  CHECK(find_operator("at::cat_out")->arguments.front() == "out");
  for (const char* unknown : {"", "at::", "std::mul", "mul_mul", "my::softmax", "aten::"}) {
    CAPTURE(unknown);
    CHECK(find_operator(unknown) == nullptr);
  }
}

TEST_CASE("the table is sound") {
  std::set<std::string> names;
  for (const Operator& op : all_operators()) {
    CAPTURE(op.name);
    CHECK(names.insert(op.name).second);
    CHECK_FALSE(op.arguments.empty());
    const std::set<std::string> arguments(op.arguments.begin(), op.arguments.end());
    for (const std::string& argument : op.promoting) CHECK(arguments.count(argument) == 1);
    if (!op.composed_of.empty()) CHECK(find_operator(op.composed_of) != nullptr);
    CHECK((op.result == ResultRule::kFixed) <= (op.fixed != Dtype::kUndefined));
  }
  CHECK(names.size() > 250);
}

TEST_CASE("ggml's functions go by their own names, and are none of PyTorch's") {
  std::set<std::string> names;
  for (const Operator& op : library_operators()) {
    CAPTURE(op.name);
    CHECK(names.insert(op.name).second);
    CHECK(op.name.starts_with("ggml_"));
    REQUIRE(find_operator(op.name) != nullptr);
    CHECK(is_library_operator(*find_operator(op.name)));
    CHECK(find_operator(op.name + "_out") == nullptr);
    CHECK(autocast_policy(op.name, "cuda", "2.13") == AutocastPolicy::kNone);
  }
  for (const Operator& op : all_operators()) CHECK_FALSE(is_library_operator(op));
  const OperatorInput half{"self", Dtype::kFloat16, kDim};
  CHECK(run("ggml_mul_mat", {half}, cuda_autocast()).dtype == Dtype::kFloat32);
  CHECK(run("ggml_add", {half}, cuda_autocast()).dtype == Dtype::kFloat16);
  CHECK(run("ggml_cast", {half}, {}, Dtype::kBFloat16).dtype == Dtype::kBFloat16);
  CHECK(run("ggml_new_tensor_3d", {}, {}, Dtype::kInt32).dtype == Dtype::kInt32);
  CHECK(run("ggml_argmax", {half}).dtype == Dtype::kInt32);
  CHECK(run("ggml_get_rows", {half}).dtype == Dtype::kFloat32);
  CHECK(run("ggml_get_rows.int32", {{"self", Dtype::kInt32, kDim}}).dtype == Dtype::kInt32);
  CHECK(run("ggml_rms_norm", {}).dtype == Dtype::kFloat32);  // it takes no other
  CHECK(run("ggml_rms_norm", {half}).dtype == Dtype::kFloat16);
  CHECK_FALSE(run("ggml_add", {}).dtype.has_value());
  CHECK(library_of(*find_operator("ggml_add")) == "ggml");
  CHECK(library_of(*find_operator("add")).empty());
  CHECK(has_own_operators("ggml"));
  CHECK_FALSE(has_own_operators("torch"));
  CHECK(find_operator("ggml_add")->arguments.all() == std::vector<std::string>{"-", "self"});
  CHECK(find_operator("ggml_cpy")->arguments.all() == std::vector<std::string>{"-", "-", "self"});
}

TEST_CASE("a float32 parameter widens a half tensor, a number does not") {
  const OperatorInput q{"self", Dtype::kFloat16, kDim};
  CHECK(run("mul", {q, {"other", Dtype::kFloat32, kDim}}).dtype == Dtype::kFloat32);
  CHECK(run("mul", {q, {"other", Dtype::kFloat32, RankClass::kZeroDim}}).dtype == Dtype::kFloat16);
  CHECK(run("mul", {q, {"other", Dtype::kFloat64, RankClass::kWrapped}}).dtype == Dtype::kFloat16);
  CHECK(run("mul_", {q, {"other", Dtype::kFloat32, kDim}}).dtype == Dtype::kFloat16);
}

TEST_CASE("an in-place result that does not fit throws") {
  const auto outcome = run("add_", {{"self", Dtype::kInt64, kDim}, {"other", Dtype::kFloat32, kDim}});
  CHECK_FALSE(outcome.dtype.has_value());
  CHECK(outcome.error == "result type Float can't be cast to the desired output type Long");
}

TEST_CASE("matmul refuses mixed inputs, and autocast lowers them") {
  const std::vector<OperatorInput> mixed = {{"self", Dtype::kFloat16, kDim},
                                            {"other", Dtype::kFloat32, kDim}};
  const auto outcome = run("matmul", mixed);
  CHECK_FALSE(outcome.dtype.has_value());
  CHECK(outcome.error == "matmul expects self and other to have the same dtype, but got float16 and float32");
  CHECK(run("matmul", mixed, cuda_autocast()).dtype == Dtype::kFloat16);
}

TEST_CASE("normalize returns float32 under CUDA autocast and by autocast's doing") {
  const std::vector<OperatorInput> half = {{"input", Dtype::kFloat16, kDim}};
  auto context = cuda_autocast();
  CHECK(run("normalize", half, context).dtype == Dtype::kFloat32);
  CHECK(run("normalize", half, context).by_autocast);
  context.device = "cpu";
  CHECK(run("normalize", half, context).dtype == Dtype::kFloat16);
  CHECK_FALSE(run("normalize", half, context).by_autocast);
  CHECK(run("normalize", half).dtype == Dtype::kFloat16);
}

TEST_CASE("the autocast lists move with versions and devices") {
  const std::vector<OperatorInput> half = {{"input", Dtype::kFloat16, kDim}};
  CHECK(run("rms_norm", half, cuda_autocast("2.11")).dtype == Dtype::kFloat16);
  CHECK(run("rms_norm", half, cuda_autocast("2.12")).dtype == Dtype::kFloat32);
  CHECK(run("rms_norm", half, cuda_autocast("2.12.1+cu130")).dtype == Dtype::kFloat32);
  CHECK(autocast_policy("exp", "cuda", "2.13") == AutocastPolicy::kFloat32);
  CHECK(autocast_policy("exp", "cpu", "2.13") == AutocastPolicy::kNone);
  CHECK(autocast_policy("scaled_dot_product_attention", "mps", "2.5") == AutocastPolicy::kNone);
  CHECK(autocast_policy("scaled_dot_product_attention", "mps", "2.13") == AutocastPolicy::kLowerPrecision);
  CHECK(autocast_policy("mm", "mps", "2.4") == AutocastPolicy::kNone);
  CHECK(autocast_policy("binary_cross_entropy", "cuda", "2.13") == AutocastPolicy::kBanned);
  CHECK(autocast_policy("linalg_matrix_norm", "cpu", "1.13") == AutocastPolicy::kFloat32);
  CHECK(autocast_policy("linalg_matrix_norm", "cpu", "2.13") == AutocastPolicy::kNone);
  CHECK(autocast_policy("scaled_dot_product_attention", "xpu", "2.13") == AutocastPolicy::kLowerPrecision);
  CHECK(autocast_policy("cat", "cpu", "1.13") == AutocastPolicy::kNone);
  CHECK(autocast_policy("mul", "cuda", "") == AutocastPolicy::kNone);
  CHECK(autocast_policy("exp", "toaster", "2.13") == AutocastPolicy::kNone);
}

TEST_CASE(
    "cuDNN computes recurrent layers in float16 under autocast, and what no kernel decides is left open") {
  const std::vector<OperatorInput> wide = {
      {"input", Dtype::kFloat32, kDim}, {"hx", Dtype::kFloat32, kDim}, {"params", Dtype::kFloat32, kDim}};
  auto cuda = cuda_autocast();
  for (const char* layer : {"lstm", "lstm.1", "lstm.2", "gru", "gru.1", "rnn_tanh", "rnn_relu.1"}) {
    INFO(layer);
    CHECK(run(layer, wide, cuda).dtype == Dtype::kFloat16);
    CHECK(run(layer, wide).dtype == Dtype::kFloat32);
    cuda.autocast = Dtype::kBFloat16;  // cuDNN's is float16 still, and that of other kernels is not
    CHECK(run(layer, wide, cuda).dtype == Dtype::kUndefined);
    cuda.autocast = Dtype::kFloat16;
  }
  auto cpu = cuda;
  cpu.device = "cpu";
  cpu.autocast = Dtype::kBFloat16;
  CHECK(run("lstm", wide, cpu).dtype == Dtype::kBFloat16);
  CHECK(run("lstm.2", wide, cpu).dtype == Dtype::kUndefined);  // float32 with projections
  CHECK(run("gru", wide, cpu).dtype == Dtype::kFloat32);
  auto other_half = wide;
  other_half[0].dtype = Dtype::kFloat16;
  CHECK(run("lstm", other_half, cpu).dtype == Dtype::kUndefined);
}

TEST_CASE("what changes for an operator between two releases can be asked") {
  const auto changes = autocast_changes("rms_norm", "cuda", "2.11", "2.13");
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].from == AutocastPolicy::kNone);
  CHECK(changes[0].to == AutocastPolicy::kFloat32);
  CHECK(changes[0].since == "2.12");
  CHECK(autocast_changes("rms_norm", "cuda", "2.12", "2.13").empty());
  CHECK(autocast_changes("rms_norm", "cpu", "2.0", "2.13").empty());
  CHECK(autocast_changes("mm", "mps", "1.13", "2.13").size() == 1);
  CHECK(autocast_changes("scaled_dot_product_attention", "cuda", "1.13", "2.13").at(0).since == "2.0");
  CHECK(autocast_changes("scaled_dot_product_attention", "mps", "1.13", "2.13").at(0).since == "2.6");
  CHECK(autocast_changes("upsample_nearest2d", "cuda", "2.3", "2.4").size() == 1);
  CHECK(autocast_changes("linalg_matrix_norm", "cpu", "1.13", "2.13").at(0).to == AutocastPolicy::kNone);
}

TEST_CASE("an older release's row replaces the entry") {
  const std::vector<OperatorInput> mixed = {
      {"self", Dtype::kBFloat16, kDim}, {"batch1", Dtype::kFloat32, kDim}, {"batch2", Dtype::kFloat32, kDim}};
  OperatorContext old;
  old.torch_version = "1.13";
  CHECK(run("baddbmm", mixed, old).dtype == Dtype::kFloat32);
  CHECK_FALSE(run("baddbmm", mixed).dtype.has_value());
}

TEST_CASE("an operator refuses what PyTorch refuses") {
  CHECK_FALSE(run("mean", {{"self", Dtype::kInt64, kDim}}).dtype.has_value());
  CHECK(run("mean", {{"self", Dtype::kInt64, kDim}}, {}, Dtype::kFloat32).dtype == Dtype::kFloat32);
  CHECK(run("mean", {{"self", Dtype::kInt64, kDim}}, {}).error == "mean does not take int64");
  CHECK(run("angle", {{"self", Dtype::kComplex64, kDim}}).dtype == Dtype::kFloat32);
  CHECK(run("float_power", {{"self", Dtype::kFloat16, kDim}}).dtype == Dtype::kFloat64);
  CHECK(run("torch.fft.rfft", {{"self", Dtype::kFloat32, kDim}}).dtype == Dtype::kComplex64);
}

TEST_CASE("autocast reaches into composites") {
  const std::vector<OperatorInput> half = {{"self", Dtype::kFloat16, kDim}};
  CHECK(run("square", half, cuda_autocast()).dtype == Dtype::kFloat32);  // pow
  CHECK(run("square", half, cuda_autocast()).by_autocast);
  CHECK(run("softmin", half, cuda_autocast()).dtype == Dtype::kFloat32);  // softmax
  CHECK(run("interpolate", half, cuda_autocast()).dtype == Dtype::kFloat32);
  CHECK(run("interpolate", half, cuda_autocast("2.3")).dtype == Dtype::kFloat16);
  auto context = cuda_autocast();
  context.device = "cpu";
  CHECK(run("square", half, context).dtype == Dtype::kFloat16);
}

TEST_CASE("an out= tensor is what PyTorch wants it to be") {
  const OperatorInput x{"self", Dtype::kFloat32, kDim};
  const OperatorInput half{"out", Dtype::kFloat16, kDim};
  CHECK(run("exp_out", {half, x}).dtype == Dtype::kFloat16);  // what fits
  CHECK_FALSE(run("exp_out", {{"out", Dtype::kInt64, kDim}, x}).dtype.has_value());
  CHECK_FALSE(run("amax_out", {half, x}).dtype.has_value());                           // the exact dtype
  CHECK(run("cumsum_out", {{"out", Dtype::kInt64, kDim}, x}).dtype == Dtype::kInt64);  // anything
  CHECK(run("sum_out", {half, x}).dtype == Dtype::kFloat16);  // anything along a dimension
  CHECK(run("sum_out", {half, x}).may_throw);                 // and the exact dtype without one
  CHECK_FALSE(run("sum_out", {{"out", Dtype::kFloat32, kDim}, x}).may_throw);
  CHECK(run("amax_out", {half, x}).error ==
        "amax_out gives float32 and does not write it to an out= tensor of float16");
}

TEST_CASE("in-place and out= variants pass autocast by") {
  const std::vector<OperatorInput> half = {{"self", Dtype::kFloat16, kDim}};
  CHECK(run("exp", half, cuda_autocast()).dtype == Dtype::kFloat32);
  CHECK(run("exp_", half, cuda_autocast()).dtype == Dtype::kFloat16);
  CHECK(run("exp_out", {{"out", Dtype::kFloat32, kDim}, half[0]}).dtype == Dtype::kFloat32);
}

TEST_CASE("an explicit dtype wins over autocast's") {
  const std::vector<OperatorInput> half = {{"self", Dtype::kFloat16, kDim}};
  CHECK(run("softmax", half, cuda_autocast()).dtype == Dtype::kFloat32);
  CHECK(run("softmax", half, cuda_autocast(), Dtype::kFloat16).dtype == Dtype::kFloat16);
  CHECK(run("softmax", half, {}, Dtype::kFloat32).dtype == Dtype::kFloat32);
}

TEST_CASE("casts, factories and numbers") {
  const OperatorInput x{"self", Dtype::kFloat32, kDim};
  CHECK(run("to", {x}, {}, Dtype::kBFloat16).dtype == Dtype::kBFloat16);
  CHECK(run("to", {x}).dtype == Dtype::kFloat32);
  CHECK(run("half", {x}).dtype == Dtype::kFloat16);
  CHECK(run("type_as", {x, {"other", Dtype::kBFloat16, kDim}}).dtype == Dtype::kBFloat16);
  OperatorContext bfloat;
  bfloat.default_dtype = Dtype::kBFloat16;
  CHECK(run("zeros", {}, bfloat).dtype == Dtype::kBFloat16);
  CHECK(run("arange", {{"end", Dtype::kInt64, RankClass::kWrapped}}).dtype == Dtype::kInt64);
  CHECK(run("arange", {{"end", Dtype::kFloat64, RankClass::kWrapped}}, bfloat).dtype == Dtype::kBFloat16);
  CHECK(run("zeros_like", {x}).dtype == Dtype::kFloat32);
  CHECK(run("argmax", {x}).dtype == Dtype::kInt64);
  CHECK(run("view_as_real", {{"self", Dtype::kComplex64, kDim}}).dtype == Dtype::kFloat32);
  CHECK_FALSE(run("view_as_complex", {{"self", Dtype::kBFloat16, kDim}}).dtype.has_value());
}

TEST_CASE("autocast has no kernel for products with a stated dtype") {
  OperatorContext autocast;
  autocast.autocast = Dtype::kFloat16;
  const std::vector<OperatorInput> matrices = {{"self", Dtype::kBFloat16, kDim},
                                               {"mat2", Dtype::kBFloat16, kDim}};
  CHECK(run("mm", matrices, autocast).dtype == Dtype::kFloat16);
  CHECK(run("mm", matrices, autocast, Dtype::kBFloat16).dtype == Dtype::kBFloat16);
  CHECK(run("mm", matrices, autocast, Dtype::kFloat32).dtype == Dtype::kFloat32);
  CHECK_FALSE(run("mm", matrices, autocast, Dtype::kFloat16).dtype.has_value());
  CHECK_FALSE(
      run("mm", {matrices[0], {"mat2", Dtype::kFloat16, kDim}}, {}, Dtype::kFloat32).dtype.has_value());
}

TEST_CASE("an empty float32 tensor still promotes cat") {
  const std::vector<OperatorInput> tensors = {{"tensors", Dtype::kFloat32, kDim},
                                              {"tensors", Dtype::kFloat16, kDim}};
  CHECK(run("cat", tensors).dtype == Dtype::kFloat32);
  CHECK_FALSE(run("cat", {}).dtype.has_value());
}
