// Objects that the roots of a class share, and settings that share what was found.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {

// One method changes what the other goes by.
std::string model(const std::string& made_wide) {
  return R"IR(
class Model
constructor Model::Model key made of Model
b0:
  %1 = param 0
  %2 = const )IR" +
         made_wide + R"IR(
  store %1.wide, %2
  return

method Model::prepare key prepare of Model
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = const true
  store %1.wide, %4
  %5 = sink flash(q=%2, k=%3, v=%3)
  return

method Model::run key run of Model
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = load %1.wide
  branch %4 ? b1 : b2
b1:
  %5 = const float32
  %6 = op to(self=%2, dtype=%5) ; 7:3-7:9 "q.float()"
  %7 = sink flash(q=%6, k=%3, v=%3)
  return
b2:
  %8 = sink flash(q=%2, k=%3, v=%3)
  return
)IR";
}

std::string scaled_by(const std::string& dtype) {
  return R"IR(
function attend
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 8
  %4 = pack(%3)
  %5 = const )IR" +
         dtype + R"IR(
  %6 = op ones(size=%4, dtype=%5)
  %7 = op mul(%1, %6) ; 7:3-7:9 "q * w"
  %8 = sink flash(q=%7, k=%2, v=%2)
  return
)IR";
}

// Widens its query by what a caller hands its constructor; `made` is what some function says of one.
std::string layer_made(const std::string& made) {
  return R"IR(
class Wide
class Layer
constructor Wide::Wide key make_wide of Wide
b0:
  %1 = param 0
  return

method Wide::forward key wide of Wide
  parameter q: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const float32
  %4 = const 8
  %5 = pack(%4)
  %6 = op ones(size=%5, dtype=%3)
  %7 = op mul(self=%2, other=%6) ; 7:3-7:9 "q * w"
  return %7

constructor Layer::Layer key make_layer of Layer
  parameter part: other
  parameter named: dtype
b0:
  %1 = param 0
  %2 = param 1
  store %1.part, %2
  return

method Layer::run key run of Layer
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = load %1.part
  %5 = call attribute::forward(%4, %2)
  %6 = sink flash(q=%5, k=%3, v=%3)
  return

function maker
b0:
  %1 = object Wide()
  %2 = call make_wide(%1)
  %3 = object Layer() ; 21:3-21:9
  %5 = const float32
  %6 = const none
)IR" + made +
         "  return\n";
}

std::size_t steps(const std::string& text, const std::vector<std::string>& settings) {
  LintOptions options;
  options.settings = settings;
  return lint(text, options).steps;
}

}  // namespace

TEST_CASE("what one root does to its object no other root finds") {
  CHECK(findings(model("false")).empty());
  CHECK(findings(model("true")).size() == 1);
}

TEST_CASE("a root without anything to find, whichever half type it is, is evaluated with one of them") {
  CHECK(steps(model("false"), {"autocast-fp16", "autocast-bf16"}) ==
        steps(model("false"), {"autocast-fp16"}));
  CHECK(steps(scaled_by("float16"), {"autocast-fp16", "autocast-bf16"}) >
        steps(scaled_by("float16"), {"autocast-fp16"}));
}

TEST_CASE("what the program makes of a class is looked at where its constructor leaves that open") {
  CHECK(findings(layer_made("")).empty());
  const AnalysisResult made = lint(layer_made("  %4 = call make_layer(%3, %1)\n"));
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings.front().location.line == 7);
  const std::vector<PathStep>& path = made.findings.front().path;
  CHECK(path[path.size() - 2].location.line == 21);
  CHECK(findings(layer_made("  %4 = call make_layer(%3, %1, named=%6)\n")).size() == 1);
  // Of what is told a dtype nothing is known in a model that is told another.
  CHECK(findings(layer_made("  %4 = call make_layer(%3, %1, named=%5)\n")).empty());
}

}  // namespace dtype_guard::flow
