// What single statements and expressions become.
#include "tests/catch.h"
#include "tests/unit/python/snippet.h"

namespace dtype_guard::python {
namespace {

std::string body(const std::string& statement) {
  return instructions(
      "import torch\nimport torch.nn.functional as F\ndef f(x: torch.Tensor, y: torch.Tensor):\n    " +
          statement + "\n",
      "f");
}

TEST_CASE("an operator has its operands by the table's names") {
  const std::string text = body("return x * y ** 2");
  CHECK(has(text, "op pow(self=%4, exponent=%5)"));
  CHECK(has(text, "op mul(self=%3, other=%6)"));
}

TEST_CASE("functions of torch and methods of tensors are the same operators") {
  CHECK(has(body("return torch.add(x, y)"), "op add(self=%3, other=%4)"));
  CHECK(has(body("return x.add(y)"), "op add(self=%3, other=%4)"));
  CHECK(has(body("return torch.add(input=x, other=y)"), "op add(self=%3, other=%4)"));
  CHECK(has(body("return F.normalize(x, dim=-1)"), "op normalize(input=%3, dim=%4)"));
}

TEST_CASE("conversions state a dtype, however it is written") {
  for (const char* each : {"x.half()", "x.to(torch.float16)", "x.to(dtype=torch.half)",
                           "x.to('cuda', torch.float16)", "x.type(torch.float16)", "x.to(dtype='float16')"}) {
    INFO(each);
    const std::string text = body(std::string("return ") + each);
    CHECK(has(text, "const float16"));
    CHECK(has(text, "op to(self=%3, dtype=%4)"));
  }
  CHECK_FALSE(has(body("return x.to(y.device)"), "op to("));
  CHECK_FALSE(has(body("return x.to('cuda', non_blocking=True)"), "op to("));
  CHECK(has(body("return x.to(y)"), "op to(self=%3, dtype=%4)"));
}

TEST_CASE("sizes are unpacked one by one") {
  const std::string text = body("b, n, d = x.shape");
  CHECK(has(text, "%4 = const 0\n%5 = op size(self=%3, dim=%4)\nstore b, %5"));
  CHECK(has(text, "%8 = const 2\n%9 = op size(self=%3, dim=%8)\nstore d, %9"));
}

TEST_CASE("a chain of assignments gives each target the value") {
  const std::string text = body("a = b = x");
  CHECK(has(text, "%3 = load x\nstore b, %3\n%4 = load b\nstore a, %4"));
}

TEST_CASE("several targets get several sources at once") {
  const std::string text = body("x, y = y, x");
  CHECK(has(text, "%3 = load y\n%4 = load x\nstore x, %3\nstore y, %4"));
}

TEST_CASE("map over a display runs the lambda on each") {
  const std::string text = body("x, y = map(lambda t: t.float(), (x, y))");
  CHECK(has(text, "store t, %3"));
  CHECK(has(text, "pack("));
  CHECK_FALSE(has(text, "closure"));
}

TEST_CASE("autocast is entered and left, also on the way out") {
  const std::string text =
      body("with torch.autocast('cuda', dtype=torch.bfloat16, enabled=False):\n        return x @ y");
  CHECK(has(text, "set_autocast cuda(on=%5, dtype=%4)"));
  CHECK(has(text, "restore_state %3\nreturn %8"));
}

TEST_CASE("defaults are the callee's, and what is computed is not known") {
  const LoweredFile file =
      lowered("def f(x, scale=None, n=3, eps=1e-5, mode='sum', flag=True, other=g(), *rest, **more): pass\n");
  REQUIRE(file.module.functions.size() == 1);
  const std::vector<flow::Parameter>& all = file.module.functions[0].parameters;
  REQUIRE(all.size() == 9);
  CHECK_FALSE(all[0].default_value);
  CHECK(all[1].default_value == flow::Constant(flow::None{}));
  CHECK(all[2].default_value == flow::Constant(std::int64_t{3}));
  CHECK(all[4].default_value == flow::Constant(std::string("sum")));
  CHECK(all[5].default_value == flow::Constant(true));
  CHECK(all[7].rest == flow::Rest::kPositional);
  CHECK(all[8].rest == flow::Rest::kKeywords);
}

TEST_CASE("a parameter's kind comes from its annotation, its default or its use") {
  const auto parameter_of = [](const std::string& parameter, const std::string& use = "pass") {
    const LoweredFile file =
        lowered("import torch\nfrom torch import Tensor\nfrom typing import Optional\ndef f(" + parameter +
                "):\n    " + use + "\n");
    REQUIRE(file.module.functions.size() == 1);
    return file.module.functions[0].parameters.at(0);
  };
  const auto kind = [&](const std::string& parameter, const std::string& use = "pass") {
    return parameter_of(parameter, use).kind;
  };
  using flow::ParameterKind;
  CHECK(kind("x: torch.Tensor") == ParameterKind::kTensor);
  CHECK(kind("x: 'Tensor'") == ParameterKind::kTensor);
  CHECK(kind("x: Optional[Tensor] = None") == ParameterKind::kOptionalTensor);
  CHECK(kind("x: torch.Tensor | None = None") == ParameterKind::kOptionalTensor);
  CHECK(kind("x: int = 3") == ParameterKind::kNumber);
  CHECK(kind("x: torch.dtype") == ParameterKind::kDtype);
  CHECK(kind("x=1.0") == ParameterKind::kNumber);
  CHECK(kind("x") == ParameterKind::kOther);
  CHECK(kind("x", "return x.transpose(1, 2)") == ParameterKind::kTensor);
  CHECK(kind("x=None", "return x.transpose(1, 2)") == ParameterKind::kOptionalTensor);
  CHECK(kind("x", "return x.hidden_size") == ParameterKind::kOther);
  CHECK(kind("x", "return torch.relu(x)") == ParameterKind::kTensor);
  CHECK(kind("position_ids", "return position_ids.unsqueeze(0)") == ParameterKind::kOther);
  CHECK(kind("x: Union[torch.Tensor, None]") == ParameterKind::kOptionalTensor);
  CHECK(kind("x: Union[\n\ttorch.Tensor,\n\ttorch.FloatTensor,\n]") == ParameterKind::kTensor);
  CHECK(kind("x: torch.Tensor | list[Tensor]") == ParameterKind::kOther);
  // A tensor, of a dtype that no setting says.
  CHECK(kind("input_ids: torch.LongTensor") == ParameterKind::kTensor);
  CHECK(parameter_of("input_ids: torch.LongTensor").type == "torch.LongTensor");
  CHECK(kind("x: torch.LongTensor = None") == ParameterKind::kOther);
  CHECK(kind("x: Optional[torch.LongTensor]") == ParameterKind::kOther);
  CHECK(parameter_of("x: torch.LongTensor = None").type.empty());
}

}  // namespace
}  // namespace dtype_guard::python
