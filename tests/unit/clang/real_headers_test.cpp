// The same on libtorch's own headers, where they are installed.
#include <filesystem>

#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

constexpr const char* kInclude = "/usr/include/torch/csrc/api/include";

LoweredSource lower_with_torch(const std::string& code) {
  CompileCommand command{"/", "/project/code.cpp", {"c++", "-std=c++17", "-I", kInclude}};
  LoweringOptions options;
  options.user_code = UserCode("/project", {});
  options.files["/project/code.cpp"] = code;
  return lower(command, options);
}

TEST_CASE("VAR's attention on libtorch's headers") {
  if (!std::filesystem::exists(std::string(kInclude) + "/torch/types.h")) {
    WARN("skipped: libtorch's headers are not in /usr/include/torch");
    return;
  }
  const LoweredSource source = lower_with_torch(
      "#include <torch/types.h>\n"
      "#include <torch/nn/functional/normalization.h>\n"
      "#include <torch/nn/module.h>\n"
      "#include <torch/nn/modules/linear.h>\n"
      "namespace F = torch::nn::functional;\n"
      "struct AttentionImpl : torch::nn::Module {\n"
      "  AttentionImpl() {\n"
      "    scale_mul = register_parameter(\"scale_mul\", torch::full({1, 4, 1, 1}, 4.0).log());\n"
      "    qkv = register_module(\"qkv\", torch::nn::Linear(torch::nn::LinearOptions(8, 24).bias(false)));\n"
      "  }\n"
      "  torch::Tensor forward(const torch::Tensor& x) {\n"
      "    TORCH_CHECK(x.dim() == 3, \"three dimensions\");\n"
      "    auto q = qkv(x).unbind(2)[0];\n"
      "    return F::normalize(q, F::NormalizeFuncOptions().dim(-1)).mul(scale_mul.exp());\n"
      "  }\n"
      "  torch::Tensor scale_mul;\n"
      "  torch::nn::Linear qkv{nullptr};\n"
      "};\n"
      "TORCH_MODULE(Attention);\n"
      "torch::Tensor use(torch::Tensor x) { Attention a; a->to(torch::kHalf); return a(x); }\n");
  INFO((source.errors.empty() ? "" : source.errors[0].file + ": " + source.errors[0].message));
  CHECK(source.errors.empty());
  CHECK_FALSE(source.torch_version.empty());
  const std::string forward = without_positions(body_with_positions(source, "AttentionImpl::forward"));
  INFO(forward);
  CHECK(contains(forward,
                 "  %6 = load %1.qkv\n"
                 "  %7 = op torch::nn::Linear::forward(%6, %2)\n"
                 "  %8 = const 2\n"
                 "  %9 = op unbind(self=%7, dim=%8)\n"
                 "  %10 = load %9[0]\n"
                 "  store q, %10\n"
                 "  %11 = load q\n"
                 "  %12 = op normalize(input=%11)\n"
                 "  %13 = load %1.scale_mul\n"
                 "  %14 = op exp(self=%13)\n"
                 "  %15 = op mul(self=%12, other=%14)\n"));
  CHECK(contains(forward, "assume %5\n"));
  const std::string use = without_positions(body_with_positions(source, "use"));
  INFO(use);
  CHECK(contains(use, "= object AttentionImpl()\n"));
  CHECK(contains(use, "call _ZN13AttentionImpl7forwardERKN2at6TensorE("));
  CHECK(contains(use, "  retype "));
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
