// The two real bugs that the analyzer was built for, as a front end lowers them, and their fixes.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

// VAR's attention: scale_mul has `dimensions` dimensions; `normalize` and `fixed` switch its parts.
std::string var_attention(int dimensions, bool normalize, bool fixed) {
  const std::string shape = dimensions == 0 ? "  %3 = pack()\n" : "  %3 = pack(%2, %2, %2, %2)\n";
  const std::string q_norm = normalize ? "op normalize(%13) ; 14:7-14:22 \"F::normalize(q)\"" : "copy %13";
  const std::string k_norm = normalize ? "op normalize(%14) ; 15:7-15:22 \"F::normalize(k)\"" : "copy %14";
  const std::string cast = fixed ? "  %40 = cast %20, %12\n  %41 = cast %21, %12\n  %42 = cast %15, %12\n"
                                 : "  %40 = copy %20\n  %41 = copy %21\n  %42 = copy %15\n";
  return R"IR(
constructor Attention::Attention key ctor of Attention
b0:
  %1 = param 0
  %2 = const 1
)IR" + shape +
         R"IR(
  %4 = const 4.0
  %5 = op full(%3, %4)
  %6 = op log(%5)
  %7 = register parameter "scale_mul", %1, %6
  store %1.scale_mul, %7
  %8 = const 64
  %9 = module torch::nn::Linear(%8, %8)
  %10 = register module "qkv", %1, %9
  store %1.qkv, %10
  return

method Attention::forward key forward of Attention
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = load %1.qkv
  %4 = op torch::nn::Linear::forward(%3, %2)
  %5 = op unbind(%4, %6)
  %6 = const 2
  %12 = dtype_of %4
  %13 = load %5[0] ; "q"
  %14 = load %5[1] ; "k"
  %15 = load %5[2] ; "v"
  %16 = load %1.scale_mul
  %17 = op exp(%16)
  %18 = )IR" +
         q_norm +
         "\n  %20 = op mul(%18, %17) ; 14:7-14:40 \"F::normalize(q).mul(scale)\"\n  %21 = " + k_norm + "\n" +
         cast + "  %50 = sink flash(q=%40, k=%41, v=%42) ; 20:3-20:20 \"flash(q, k, v)\"\n  return %50\n";
}

TEST_CASE("VAR: normalisation under autocast, and a parameter of one dimension or more") {
  const LintOptions settings{{"autocast-fp16", "autocast-bf16", "fp16", "bf16"}};
  CHECK(findings(var_attention(4, true, false), settings) ==
        Found{"14 autocast-fp32-operator q in Attention::forward [autocast-fp16 autocast-bf16]",
              "15 autocast-fp32-operator k in Attention::forward [autocast-fp16 autocast-bf16]"});
  // CPU autocast lists no norm: what remains is the parameter.
  LintOptions cpu = settings;
  cpu.device = "cpu";
  CHECK(findings(var_attention(4, true, false), cpu) ==
        Found{"14 attention-implicit-promotion q in Attention::forward [autocast-fp16 autocast-bf16]"});
}

TEST_CASE("VAR: the parameter alone promotes under autocast, and not in a half model") {
  CHECK(findings(var_attention(4, false, false), {{"autocast-bf16", "bf16"}}) ==
        Found{"14 attention-implicit-promotion q in Attention::forward [autocast-bf16]"});
}

TEST_CASE("VAR: a scale without dimensions promotes nothing") {
  CHECK(findings(var_attention(0, false, false), all_settings_but_fp32()).empty());
}

TEST_CASE("VAR: the fix is clean in every setting that makes a half model") {
  CHECK(findings(var_attention(4, true, true), all_settings_but_fp32()).empty());
}

TEST_CASE("VAR: a finding says what, where and how to cure it") {
  const AnalysisResult result = lint(var_attention(4, true, false), {{"autocast-bf16"}});
  REQUIRE(result.findings.size() == 2);
  const Finding& q = result.findings[0];
  CHECK(
      q.message ==
      "'q' of 'flash' is 'float32', promoted from 'bfloat16' by 'normalize' under autocast; the call accepts "
      "'float16' or 'bfloat16'; cast back after it, e.g. '.to(q.scalar_type())'");
  CHECK(q.also_rules == std::vector<std::string>{"attention-implicit-promotion", "attention-mixed-dtypes",
                                                 "attention-unsupported-dtype"});
  CHECK(q.location.file == "f.cpp");
  CHECK(q.location.column == 7);
  CHECK(q.location.end_column == 22);
  REQUIRE(q.path.size() == 3);
  CHECK(q.path[0].op == "normalize");
  CHECK(q.path[0].before == "bfloat16");
  CHECK(q.path[0].after == "float32");
  CHECK(q.path[1].op == "mul");
  CHECK(q.path[2].op == "flash");
  CHECK(q.path[2].note == "reaches 'q' of 'flash'");
  REQUIRE(q.operands.size() == 3);
  CHECK(q.operands[0].dtypes == std::vector<std::string>{"float32"});
  CHECK(q.operands[0].origin == std::size_t{0});
  CHECK(q.operands[2].dtypes == std::vector<std::string>{"bfloat16"});
  CHECK_FALSE(q.operands[2].origin);
  CHECK(q.operands[2].accepts == std::vector<std::string>{"float16", "bfloat16"});
  CHECK(q.observed == std::vector<std::string>{"static"});
  CHECK(q.runtime == "unknown");
  CHECK(q.fingerprint.substr(0, 3) == "v1:");
  CHECK(q.level == Level::kError);
}

std::string qwen_rotary(const std::string& table) {
  return R"IR(
function apply_rotary internal
  parameter x: tensor
  parameter cos: tensor
  parameter sin: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = sink rotary(x=%1, cos=%2, sin=%3) ; 8:3-8:30 "rotary(x, cos, sin)"
  return %1

function apply_flashatt
  parameter tensor: tensor
  parameter freqs: tensor
b0:
  %1 = param 0 ; "tensor"
  %2 = param 1 ; "freqs"
  %3 = const float32
  %4 = cast %1, %3 ; 21:10-21:40 "tensor.to(torch::kFloat32)"
  %5 = op cos(%2)
  %6 = op sin(%2)
)IR" + table +
         R"IR(
  %9 = call apply_rotary(%4, %7, %8) ; 24:10-24:40
  %10 = op type_as(%9, %1)
  return %10
)IR";
}

TEST_CASE("Qwen2.5-Omni: x is cast, the tables are not") {
  const AnalysisResult result = lint(qwen_rotary("  %7 = copy %5\n  %8 = copy %6\n"), {{"bf16"}});
  CHECK(summary(result) == Found{"21 rotary-dtype-mismatch x in apply_flashatt [bf16]"});
  REQUIRE(result.findings.size() == 1);
  const Finding& finding = result.findings[0];
  CHECK(finding.message ==
        "'x' of 'rotary' is 'float32', cast from 'bfloat16' by 'to'; 'cos' and 'sin' are 'bfloat16' and the "
        "call wants "
        "them equal; cast 'cos' and 'sin' to the dtype of 'x', e.g. with '.type_as()'");
  REQUIRE(finding.path.size() == 3);
  CHECK(finding.path[0].op == "cast");
  CHECK(finding.path[1].op == "call");
  CHECK(finding.path[1].note == "passed to 'apply_rotary'");
  CHECK(finding.path[2].location.line == 8);
  CHECK(finding.sinks[0].location.function == "apply_rotary");
}

TEST_CASE("one table alone differs: it is to be like x and the other one") {
  const std::string program = R"IR(
function rotate
  parameter x: tensor
b0:
  %1 = param 0 ; "x"
  %2 = const float32
  %3 = const bfloat16
  %4 = cast %1, %3 ; 2:3-2:9
  %5 = cast %1, %2 ; 3:3-3:9
  %6 = sink rotary(x=%4, COS, SIN) ; 8:3-8:30
  return %4
)IR";
  for (const std::string role : {"cos", "sin"}) {
    std::string text = program;
    text.replace(text.find("COS"), 3, role == "cos" ? "cos=%5" : "cos=%4");
    text.replace(text.find("SIN"), 3, role == "sin" ? "sin=%5" : "sin=%4");
    const AnalysisResult result = lint(text, {{"bf16"}});
    REQUIRE(result.findings.size() == 1);
    const std::string& message = result.findings[0].message;
    CAPTURE(message);
    const std::string other = role == "cos" ? "sin" : "cos";
    CHECK(message.starts_with("'" + role + "' of 'rotary' is 'float32'"));
    CHECK(message.ends_with("; cast '" + role + "' like '" + other + "' and 'x', e.g. with '.type_as()'"));
  }
}

TEST_CASE("Qwen2.5-Omni: the fix raises the tables, and is clean in every setting") {
  CHECK(findings(qwen_rotary("  %7 = op type_as(%5, %4)\n  %8 = op type_as(%6, %4)\n"), all_settings())
            .empty());
}

}  // namespace
}  // namespace dtype_guard::flow
