// Modules, shared tensors, containers, buffers, descriptors and roots.
#include <algorithm>
#include <numeric>

#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

// A module with a registered float32 scale, and a plain float32 member beside it.
const char* const kModule = R"IR(
constructor Scaled::Scaled key ctor of Scaled
b0:
  %1 = param 0
  %2 = const 8
  %3 = pack(%2)
  %4 = op ones(%3)
  %5 = register KIND "scale", %1, %4
  store %1.scale, %5
  %6 = op ones(%3)
  store %1.plain, %6
  return

method Scaled::forward key forward of Scaled
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1 ; "x"
  %3 = load %1.FIELD
  %4 = op mul(%2, %3) ; 12:3-12:9 "x * scale"
  %5 = sink flash(q=%4, k=%2, v=%2)
  return %5
)IR";

std::string scaled(std::string kind, std::string field) {
  std::string text = kModule;
  text.replace(text.find("KIND"), 4, kind);
  return text.replace(text.find("FIELD"), 5, field);
}
const LintOptions kFour{{"autocast-bf16", "bf16", "bf16-fp32-buffers"}};

TEST_CASE("a setting fills registered parameters and buffers, not plain members") {
  CHECK(findings(scaled("parameter", "scale"), kFour) ==
        Found{"12 attention-implicit-promotion q in Scaled::forward [autocast-bf16]"});
  CHECK(findings(scaled("buffer", "scale"), kFour) ==
        Found{"12 attention-implicit-promotion q in Scaled::forward [autocast-bf16 bf16-fp32-buffers]"});
  CHECK(findings(scaled("parameter", "plain"), kFour) ==
        Found{"12 attention-implicit-promotion q in Scaled::forward [autocast-bf16 bf16 bf16-fp32-buffers]"});
}

TEST_CASE("what is kept in a plain member and then registered a conversion of the module reaches") {
  const auto kept = [](const std::string& rest) {
    std::string text = scaled("buffer", "plain");
    text.insert(text.find("\nb0:"), " module");
    const std::string made = "  %6 = op ones(%3)\n  store %1.plain, %6\n";
    return text.insert(text.find(made) + made.size(), rest);
  };
  const LintOptions half{{"fp16"}};
  const std::string convert = "  %8 = const float16\n  retype %1, %8\n";
  CHECK(findings(kept(convert), half).size() == 1);
  CHECK(findings(kept("  %7 = register buffer \"kept\", %1, %6\n" + convert), half).empty());
}

std::string run_module(const std::string& field, const std::string& conversion) {
  return scaled("parameter", field) +
         "\nfunction main main\nb0:\n  %1 = object Scaled()\n  %2 = call ctor(%1)\n"
         "  %3 = const bfloat16\n  %4 = const 8\n  %5 = pack(%4)\n  %6 = op randn(%5, dtype=%3)\n  %9 = "
         "object Owner()\n"
         "  %10 = register module \"inner\", %9, %1\n" +
         conversion + "  %20 = call forward(%1, %6)\n  return\n";
}

TEST_CASE("Module::to retypes what is registered below it, and nothing else") {
  CHECK(findings(run_module("scale", "")).size() == 1);
  CHECK(findings(run_module("scale", "  retype %1, %3\n")).empty());
  CHECK(findings(run_module("scale", "  retype %9, %3\n")).empty());  // by its parent
  CHECK(findings(run_module("plain", "  retype %9, %3\n")).size() == 1);
}

// A tensor of main's that a function registers, and the module that owns it then.
std::string registered_by_callee(const std::string& body, const std::string& rest) {
  return "function own key own internal\n  parameter owner: object \"Owner\"\n  parameter t: tensor\n  "
         "parameter f: "
         "number "
         "\"bool\"\nb0:\n  %1 = param 0\n  %2 = param 1\n  %3 = param 2\n" +
         body + "\n" +
         attention_main(
             "  %10 = object Owner()\n  %11 = const 8\n  %12 = pack(%11, %11)\n  %13 = op ones(%12)\n"
             "  %14 = const unknown\n  %15 = call own(%10, %13, %14)\n  %16 = const bfloat16\n" +
                 rest,
             "%1", "%13", "%13");
}

TEST_CASE("what a callee registers a conversion reaches by the caller's name for it too") {
  const std::string always = "  %4 = register parameter \"w\", %1, %2\n  return\n";
  const std::string perhaps =
      "  branch %3 ? b1 : b2\nb1:\n  %4 = register parameter \"w\", %1, %2\n  jump b2\nb2:\n"
      "  return\n";
  const std::string convert = "  retype %10, %16\n";
  CHECK(findings(registered_by_callee(always, "")).size() == 1);
  CHECK(findings(registered_by_callee(always, convert)).empty());
  CHECK(findings(registered_by_callee("  return\n", convert)).size() == 1);
  CHECK(findings(registered_by_callee(perhaps, convert)).empty());
}

TEST_CASE("what a loop does to each part is done to all, what is done to one or some is not known of any") {
  const auto in_loop = [](const std::string& list, const std::string& body) {
    return "  %11 = op " + list + "\n  %13 = const unknown\n  jump b1\nb1:\n" + body +
           "  branch %13 ? b1 : b2\nb2:\n";
  };
  const auto size = [](const std::string& conversion) {
    return findings(run_module("scale", conversion)).size();
  };
  const std::string each = "  %12 = load %11[*]\n  retype %12, %3\n";
  CHECK(size(in_loop("parameters(self=%9)", "")) == 1);
  CHECK(size(in_loop("parameters(self=%9)", each)) == 0);
  CHECK(size(in_loop("children(self=%9)", each)) == 0);
  CHECK(size(in_loop("children(self=%1)", each)) == 1);  // itself is none of them
  CHECK(size(in_loop("modules(self=%1)", each)) == 0);
  CHECK(size("  %14 = const false\n" + in_loop("modules(self=%1, flag=%14)", each)) == 1);
  CHECK(size("  %14 = const false\n" + in_loop("parameters(self=%9, flag=%14)", each)) == 1);
  CHECK(size("  %14 = const unknown\n" + in_loop("parameters(self=%9, flag=%14)", each)) == 0);
  CHECK(size("  %11 = op buffers(self=%9)\n  %12 = load %11[0]\n  retype %12, %3\n") == 1);
  CHECK(size("  %11 = op parameters(self=%9)\n  %12 = load %11[0]\n  retype %12, %3\n") == 0);
  CHECK(size("  %11 = op modules(self=%9)\n  %12 = load %11[0]\n  %13 = load %12.scale\n"
             "  retype %13, %3\n") == 0);
  CHECK(size(in_loop("modules(self=%9)", "  %12 = load %11[*]\n  store %12.scale, %6\n")) == 0);
  const auto some = [](const std::string& list) {
    return "  %11 = op " + list + "\n  %13 = const unknown\n  jump b1\nb1:\n  branch %13 ? b2 : b3\nb2:\n" +
           "  %12 = load %11[*]\n  retype %12, %3\n  jump b3\nb3:\n  branch %13 ? b1 : b4\nb4:\n";
  };
  CHECK(size(some("parameters(self=%9)")) == 0);
  CHECK(size(some("buffers(self=%9)")) == 1);
}

TEST_CASE("a parent's `to` runs a child's own, which may convert what is not registered") {
  const std::string own =
      "\nmethod Scaled::to key to of Scaled\n  parameter d: dtype\nb0:\n  %1 = param 0\n  return\n";
  const std::string parent = "  retype %9, %3\n";
  CHECK(findings(run_module("plain", parent)).size() == 1);
  CHECK(findings(run_module("plain", parent) + own).empty());
}

TEST_CASE("what another method leaves in a plain member is not what the constructor made") {
  const auto with = [](const std::string& stored) {
    return findings("class Scaled\n" + scaled("parameter", "plain") +
                    "\nmethod Scaled::prepare key prepare of Scaled\n  parameter given: tensor\nb0:\n"
                    "  %1 = param 0\n  %2 = param 1\n  %3 = load %1.plain\n  %4 = const float16\n"
                    "  %5 = const 8\n  %6 = pack(%5)\n  %7 = op ones(%6)\n  %8 = op to(%3, dtype=%4)\n" +
                    stored + "  return\n")
        .size();
  };
  CHECK(with("") == 1);
  CHECK(with("  store %1.plain, %7\n") == 1);  // as it was
  CHECK(with("  store %1.plain, %8\n") == 0);
  CHECK(with("  store %1.plain, %2\n") == 0);
  CHECK(with("  store %1.other, %8\n") == 1);
  CHECK(with("  %9 = address %1.plain\n  retype %9, %8\n") == 0);
}

TEST_CASE("what other code may leave in the member of an object that it did not make is not known") {
  const auto with = [](const std::string& head, const std::string& body) {
    return findings("class Owner\nclass Scaled\n" + scaled("parameter", "plain") + "\n" + head +
                    "b0:\n  %1 = param 0\n  %4 = const float16\n" + body + "  return\n")
        .size();
  };
  const std::string method = "method Owner::prepare key prepare of Owner\n  parameter given: tensor\n";
  const std::string part = "  %2 = load %1.part\n  %3 = load %2.plain\n  %5 = op to(%3, dtype=%4)\n";
  CHECK(with(method, part) == 1);
  CHECK(with(method, part + "  store %2.plain, %5\n") == 0);
  CHECK(with(method, part + "  store %1.part.plain, %5\n") == 0);
  CHECK(with(method, part + "  store %2.other, %5\n") == 1);
  CHECK(with(method, part + "  store %1.plain, %5\n") == 1);  // of its own object
  CHECK(with(method, part + "  %6 = const 1\n  store %2.plain, %6\n") == 1);
  CHECK(with(method, part + "  %6 = object Owner()\n  store %6.plain, %5\n") == 1);
  CHECK(with("function prepare key prepare\n  parameter model: other\n", part + "  store %2.plain, %5\n") ==
        0);
  CHECK(with("function prepare key prepare\n  parameter model: object \"Owner\"\n",
             part + "  store %1.plain, %5\n") == 1);
}

TEST_CASE("a class that the program always makes half is not run over float32 parameters") {
  const auto with = [](const std::string& kind, const std::string& conversion) {
    return findings("class Scaled\n" + scaled(kind, "scale") +
                        "\nfunction make key make\nb0:\n  %1 = object Scaled()\n  %2 = call ctor(%1)\n"
                        "  %3 = const float16\n  %4 = const unknown\n" +
                        conversion + "  return %1\n",
                    LintOptions{});
  };
  CHECK(with("parameter", "") ==
        Found{"12 attention-implicit-promotion q in Scaled::forward [autocast-fp16 autocast-bf16]"});
  CHECK(with("parameter", "  retype %1, %3\n").empty());
  CHECK(with("parameter", "  branch %4 ? b1 : b2\nb1:\n  retype %1, %3\n  jump b2\nb2:\n").size() == 1);
  CHECK(with("parameter", "  retype %1, %3\n  %5 = object Scaled()\n  %6 = call ctor(%5)\n").size() == 1);
  CHECK(with("buffer", "").size() == 1);
  CHECK(with("buffer", "  retype %1, %3\n").empty());
}

TEST_CASE("handles share what is done to a tensor, views taken before do not") {
  CHECK(findings(run_module("scale", "  %11 = load %1.scale\n  store %1.alias, %11\n  retype %11, %3\n"))
            .empty());
  const std::string view =
      "  %11 = load %1.scale\n  %12 = op view(%11, %5)\n  store %1.scale, %12\n  retype %1, %3\n";
  CHECK(findings(run_module("scale", view)).size() == 1);
}

TEST_CASE("a library module computes in its parameters' dtype, and autocast lowers it") {
  const std::string program =
      "\nfunction main main\nb0:\n  %1 = const 8\n  %2 = pack(%1)\n  %3 = const bfloat16\n"
      "  %4 = op randn(%2)\n  %5 = module torch::nn::Linear(%1, %1)\n  %6 = op randn(%2, dtype=%3)\n"
      "  CONVERT\n  %7 = op torch::nn::Linear::forward(%5, INPUT)\n"
      "  %8 = sink flash(q=%7, k=%6, v=%6)\n  return\n";
  const auto with = [&](const std::string& convert, const std::string& input) {
    std::string text = program;
    text.replace(text.find("CONVERT"), 7, convert);
    return findings(text.replace(text.find("INPUT"), 5, input));
  };
  CHECK(with("%9 = const 1", "%4").size() == 1);
  CHECK(with("retype %5, %3", "%6").empty());
  CHECK(with("%9 = const true\n  set_autocast cuda(on=%9, dtype=%3)", "%4").empty());
}

TEST_CASE(
    "what a library module computes is what its operator does, whose name and arguments the table has") {
  const std::string program =
      "\nfunction main main\nb0:\n  %1 = const 8\n  %2 = pack(%1)\n  %3 = const bfloat16\n"
      "  %4 = op randn(%2)\n  %5 = module torch::nn::TYPE(%1)\n  %6 = op randn(%2, dtype=%3)\n"
      "  %7 = op torch::nn::TYPE::forward(%5, INPUT)\n  %8 = sink flash(q=%7, k=%6, v=%6)\n  return\n";
  const auto with = [&](const std::string& type, const std::string& input) {
    std::string text = program;
    for (std::size_t at = text.find("TYPE"); at != std::string::npos; at = text.find("TYPE"))
      text.replace(at, 4, type);
    return findings(text.replace(text.find("INPUT"), 5, input)).size();
  };
  for (const char* type : {"Softplus", "Sigmoid", "Tanh", "LogSoftmax", "Flatten", "AvgPool2d",
                           "ReflectionPad2d", "PixelShuffle", "BatchNorm1d"}) {
    INFO(type);
    CHECK(with(type, "%4") == 1);
    CHECK(with(type, "%6") == 0);
  }
  CHECK(with("Transformer", "%4") == 0);  // nothing is known of it
}

// What real libtorch 2.13 gives on the CPU, for parameters of float32 and bfloat16 and inputs of both,
// without and with autocast to bfloat16: f float32, b bfloat16, - throws.
TEST_CASE("modules with several results give what libtorch's give") {
  struct Row {
    const char* type;
    const char* inputs;
    int results;
    const char* without;  // by parameters, then by input
    const char* with;
  };
  const Row rows[] = {{"LSTM", "INPUT", 1, "f--b", "bbbb"},
                      {"GRU", "INPUT", 2, "f--b", "fbfb"},
                      {"RNN", "INPUT", 2, "f--b", "bbbb"},
                      {"LSTMCell", "INPUT", 2, "f--b", "fbfb"},
                      {"GRUCell", "INPUT", 0, "f--b", "fbfb"},
                      {"RNNCell", "INPUT", 0, "f--b", "bbbb"},
                      {"MultiheadAttention", "INPUT, INPUT, INPUT", 2, "f--b", "bbbb"}};
  const auto count = [](const Row& row, int result, int cell, bool autocast, bool widened) {
    std::string inputs = row.inputs;
    for (std::size_t at; (at = inputs.find("INPUT")) != std::string::npos;)
      inputs.replace(at, 5, cell % 2 ? "%6" : "%4");
    const std::string type = std::string("torch::nn::") + row.type;
    std::string text =
        "\nfunction main main\nb0:\n  %1 = const 8\n  %2 = pack(%1)\n  %3 = const bfloat16\n"
        "  %4 = op randn(%2)\n  %5 = module " +
        type + "(%1)\n  %6 = op randn(%2, dtype=%3)\n  %12 = const true\n";
    if (cell / 2) text += "  retype %5, %3\n";
    if (autocast) text += "  set_autocast cpu(on=%12, dtype=%3)\n";
    text += "  %7 = op " + type + "::forward(%5, " + inputs + ")\n";
    text += row.results ? "  %8 = load %7[" + std::to_string(result) + "]\n" : "  %8 = copy %7\n";
    if (widened) text += "  %9 = op ones(%2)\n  %10 = op mul(%8, %9)\n";
    text += std::string("  %11 = sink flash(q=") + (widened ? "%10" : "%8") + ", k=%6, v=%6)\n  return\n";
    LintOptions options;
    options.device = "cpu";
    return findings(text, options).size();
  };
  for (const Row& row : rows) {
    for (int result = 0; result < std::max(1, row.results); ++result) {
      for (int cell = 0; cell < 4; ++cell) {
        for (const bool autocast : {false, true}) {
          CAPTURE(row.type, result, cell, autocast);
          const char expected = (autocast ? row.with : row.without)[cell];
          CHECK(count(row, result, cell, autocast, false) == (expected == 'f' ? 1 : 0));
          CHECK(count(row, result, cell, autocast, true) == (expected == '-' ? 0 : 1));
        }
      }
    }
  }
}

TEST_CASE("containers keep a cell per index") {
  const std::string body = "  %10 = op ones(%101)\n  %11 = pack(%1, %10)\n  %12 = load %11[INDEX]\n";
  const auto with = [&](const std::string& index) {
    std::string text = body;
    return attention_main(text.replace(text.find("INDEX"), 5, index), "%12", "%2", "%3");
  };
  CHECK(findings(with("0")).empty());
  CHECK(findings(with("1")).size() == 1);
  CHECK(findings(with("*")).empty());  // may be either: possible at most
  LintOptions strict;
  strict.strict = true;
  CHECK(findings(with("*"), strict).size() == 1);
}

TEST_CASE("objects, references and nested places lead to the tensor") {
  const std::string body =
      "  %10 = op ones(%101)\n  %11 = object Config()\n  store %11.inner, %11\n  store %11.inner.w, %10\n"
      "  store a, %11\n  %12 = address a.inner.w\n  %13 = load %12\n  %14 = op mul(%1, %13)\n";
  CHECK(findings(attention_main(body, "%14", "%2", "%3")).size() == 1);
  CHECK(findings(
            attention_main(body + "  %15 = op randn(%101, dtype=%102)\n  store %12, %15\n  %16 = load %11.w\n"
                                  "  %17 = op mul(%1, %16)\n",
                           "%17", "%2", "%3"))
            .empty());
}

TEST_CASE("an object without a seen constructor is unknown, and has no findings") {
  CHECK(findings("\nmethod g of Unseen\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = param 1\n  %3 = "
                 "load %1.w\n"
                 "  %4 = op mul(%2, %3)\n  %5 = sink flash(q=%4, k=%2, v=%2)\n  return\n",
                 all_settings_but_fp32())
            .empty());
}

TEST_CASE("evaluation of classes whose constructors take each other terminates") {
  const std::string classes =
      "\nconstructor A::A key a of A\n  parameter b: object \"B\"\nb0:\n  %1 = param 0\n  return\n"
      "\nconstructor B::B key b of B\n  parameter a: object \"A\"\nb0:\n  %1 = param 0\n  return\n";
  CHECK(findings(classes, {{"bf16"}}).empty());
}

TEST_CASE("inputs that a setting assumes are no evidence against a call") {
  const std::string wrapper =
      "\nfunction wrap\n  parameter q: tensor\n  parameter lse: tensor\nb0:\n  %1 = param 0\n  %2 = param 1\n"
      "  %3 = sink flash(q=%1, k=%1, v=%1, out=%1, lse=%2)\n  return\n";
  CHECK(findings(wrapper, all_settings_but_fp32()).empty());
}

TEST_CASE("that a class is made half in one setting says nothing of another") {
  const std::string text = R"IR(
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

function make
  parameter x: tensor
b0:
  %1 = param 0
  %2 = object A()
  call a_made(%2)
  %3 = dtype_of %1
  %4 = const float16
  %5 = op eq(%3, %4)
  branch %5 ? b1 : b2
b1:
  retype %2, %4
  jump b2
b2:
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
)IR";
  const auto in = [&](const std::vector<std::string>& settings) {
    const std::vector<std::string> found = findings(text, {settings});
    return std::accumulate(found.begin(), found.end(), std::string());
  };
  // Only float16 inputs come with a half model.
  const std::string wide = "9 attention-implicit-promotion q in A::forward [autocast-bf16]";
  CHECK(in({"autocast-fp16"}).empty());
  CHECK(in({"autocast-bf16"}) == wide);
  CHECK(in({"autocast-fp16", "autocast-bf16"}) == wide);
}

}  // namespace
}  // namespace dtype_guard::flow
