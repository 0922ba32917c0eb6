// What hangs on the precision setting: an evaluation that never asked what it says gives the same in all of
// them, and is made once.
#include <algorithm>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/program.h"
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {

// A whole program that hands over what it made itself.
constexpr const char* kMain = R"(
function main main
b0:
  %1 = const 8
  %2 = pack(%1)
  %3 = const float16
  %4 = op ones(%2, dtype=%3)
  %5 = op ones(%2)
  %6 = op mul(%4, %5) ; 7:3-7:9 "q * w"
  %7 = sink flash_attn_func(q=%6, k=%4, v=%4) ; 8:3-8:9
  return
)";

bool asks(const std::string& text, const std::string& name, const PrecisionSetting& setting) {
  const Module module = parse("file \"f.cpp\"\n" + text);
  const Program program(module);
  AnalysisOptions options;
  options.contracts = &builtin_contracts();
  const std::string version = "2.13";
  Work work;
  Engine engine(program, options, setting, version, work);
  const auto root = std::find_if(module.functions.begin(), module.functions.end(),
                                 [&](const Function& each) { return each.name == name; });
  REQUIRE(root != module.functions.end());
  engine.evaluate_root(static_cast<std::uint32_t>(root - module.functions.begin()));
  return engine.asked_setting();
}

// In all settings, or in none.
bool asks(const std::string& text, const std::string& name) {
  const std::vector<PrecisionSetting>& all = precision_settings();
  const auto one_does = [&](const PrecisionSetting& each) { return asks(text, name, each); };
  const bool out = std::any_of(all.begin(), all.end(), one_does);
  CHECK(std::all_of(all.begin(), all.end(), one_does) == out);
  return out;
}

TEST_CASE("setting: a program that makes its own tensors does not ask for it", "[flow]") {
  CHECK(!asks(kMain, "main"));
}

TEST_CASE("setting: what it decides is asked for", "[flow]") {
  // An input, autocast around a function, the dtype that it is told.
  CHECK(asks("function f\n  parameter x: tensor\nb0:\n  return\n", "f"));
  CHECK(asks("function f\nb0:\n  return\n", "f"));
  CHECK(asks("function f main\n  parameter x: tensor\nb0:\n  return\n", "f"));
  CHECK(asks("function f main\n  parameter x: dtype\nb0:\n  return\n", "f"));
  CHECK(!asks("function f main\n  parameter x: number\nb0:\n  return\n", "f"));
  // What is called in its file only is handed what the setting says, where its caller does not know.
  const std::string helper = "function helper internal\n  parameter x: tensor\nb0:\n  return\n";
  const auto calls_with = [&](const std::string& made) {
    return helper + "\nfunction f main\nb0:\n" + made + "  call helper(%3)\n  return\n";
  };
  CHECK(asks(calls_with("  %3 = op unheard_of()\n"), "f"));
  CHECK(!asks(calls_with("  %1 = const 8\n  %2 = pack(%1)\n  %3 = op ones(%2)\n"), "f"));
}

TEST_CASE("setting: what no setting decides is found in each, and is evaluated once", "[flow]") {
  const Module module = parse(std::string("file \"f.cpp\"\n") + kMain);
  AnalysisOptions options;
  options.contracts = &builtin_contracts();
  options.settings = {precision_settings().front()};
  const AnalysisResult one = analyse(module, options);
  CHECK(!one.asked_setting);
  REQUIRE(one.findings.size() == 1);
  options.settings = precision_settings();
  const AnalysisResult all = analyse(module, options);
  REQUIRE(all.findings.size() == 1);
  CHECK(all.findings.front().precision.size() == precision_settings().size());
  CHECK(all.findings.front().message == one.findings.front().message);
  CHECK(all.steps == one.steps * precision_settings().size());  // counted as if each were evaluated
}

// The program is evaluated for what it leaves half as well: once for all settings.
TEST_CASE("setting: what a program leaves half is the same in each", "[flow]") {
  const std::string text = R"(
class A

constructor A::A key a_made of A module
b0:
  %1 = param 0
  %2 = const 2
  %3 = pack(%2, %2)
  %4 = op ones(%3)
  %5 = register parameter "weight", %1, %4
  store %1.weight, %5
  return

function main main
b0:
  %2 = object A()
  call a_made(%2)
  %4 = const float16
  retype %2, %4
  return

method A::forward key a_forward of A module
  parameter q: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = load %1.weight
  %4 = op mul(%2, %3) ; 9:3-9:9 "q * weight"
  %5 = sink flash(q=%4, k=%2, v=%2) ; 10:3-10:20
  return
)";
  CHECK(findings(text).empty());  // never under autocast over float32 parameters
  std::string wide = text;
  wide.replace(wide.find("  retype %2, %4\n"), 16, "");
  CHECK(findings(wide) == std::vector<std::string>{"9 attention-implicit-promotion q in A::forward "
                                                   "[autocast-fp16 autocast-bf16]"});
  std::string known = text;
  const Module module = parse("file \"f.cpp\"\n" + known.replace(known.find("flash("), 5, "flash_attn_func"));
  const Program program(module);
  AnalysisOptions options;
  options.settings = {precision_settings()[0], precision_settings()[1]};
  options.contracts = &builtin_contracts();
  const auto root = std::find_if(module.functions.begin(), module.functions.end(),
                                 [](const Function& each) { return each.name == "A::forward"; });
  analyse(program, {static_cast<std::uint32_t>(root - module.functions.begin())}, options);
  CHECK(program.made_half("autocast-fp16", "2.13"));
  CHECK(program.made_half("autocast-bf16", "2.13"));
  CHECK(program.halves_by_root().known.size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
