// Calls: effects on places, out-parameters, closures, recursion, budgets and what is not known.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

const char* const kScale = R"IR(
function scale internal
  parameter q: tensor
  parameter out: tensor &
b0:
  %1 = param 0 ; "q"
  %2 = param 1
  %3 = const 8
  %4 = pack(%3)
  %5 = op ones(%4)
  %6 = op mul(%1, %5) ; 5:3-5:9 "q * w"
  store %2, %6
  return %1
)IR";

TEST_CASE("an out-parameter takes what the callee stores") {
  const std::string body = "  store a, %1\n  %10 = address a\n  %11 = call scale(%1, %10)\n  %12 = load a\n";
  CHECK(findings(kScale + attention_main(body, "%12", "%2", "%3")).size() == 1);
  CHECK(findings(kScale + attention_main(body, "%11", "%2", "%3")).empty());
}

TEST_CASE("a call's value is what the callee returns") {
  const std::string widen =
      "\nfunction widen internal\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = const 8\n"
      "  %3 = pack(%2)\n  %4 = op ones(%3)\n  %5 = op mul(%1, %4) ; 6:3-6:9\n  return %5\n";
  CHECK(findings(widen + attention_main("  %10 = call widen(%1)\n", "%10", "%2", "%3")).size() == 1);
}

TEST_CASE("every call that has a contract is listed with what stayed unknown of it") {
  const auto calls = [](const std::string& text, const LintOptions& options = {}) {
    Found out;
    for (const ReachedCall& each : lint(text, options).calls) {
      std::string line = each.api + (each.reached ? "" : " not reached");
      for (const std::string& role : each.unknown) line += " " + role;
      out.push_back(line);
    }
    return out;
  };
  CHECK(calls(attention_main("", "%1", "%2", "%3")) == Found{"flash"});
  CHECK(calls(attention_main("  %10 = call elsewhere(%1)\n", "%10", "%2", "%3")) == Found{"flash q"});
  CHECK(calls("\nfunction main main\nb0:\n  return\n").empty());
  // A root that is given up comes to no call.
  LintOptions short_of_steps;
  short_of_steps.step_budget = 1;
  CHECK(calls(attention_main("", "%1", "%2", "%3"), short_of_steps) == Found{"flash not reached"});
}

TEST_CASE("a callee is evaluated with each caller's own arguments") {
  const std::string identity =
      "\nfunction same internal\n  parameter x: tensor\nb0:\n  %1 = param 0\n  return %1\n";
  const std::string body = "  %10 = op ones(%101)\n  %11 = call same(%10)\n  %12 = call same(%1)\n";
  CHECK(findings(identity + attention_main(body, "%12", "%2", "%3")).empty());
}

TEST_CASE("a closure sees its captures") {
  const std::string lambda =
      "\nlambda twice internal\n  parameter k: tensor\nb0:\n  %1 = param 0\n  %2 = param 1\n"
      "  %3 = load %1.w\n  %4 = op mul(%2, %3) ; 6:3-6:9 \"k * w\"\n  return %4\n";
  const std::string body =
      "  %10 = op ones(%101)\n  %11 = closure twice(w=%10)\n  %12 = call \"\"(%11, %2)\n";
  CHECK(findings(lambda + attention_main(body, "%1", "%12", "%3")) ==
        Found{"6 attention-implicit-promotion k in twice [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
              "bf16-fp32-buffers]"});
}

TEST_CASE(
    "a lambda that escapes to unseen code is run with what it captured, and with the setting's inputs") {
  const std::string lambda =
      "\nlambda work internal\n  parameter k: tensor\nb0:\n  %1 = param 0\n  %2 = param 1\n"
      "  %3 = load %1.w\n  %4 = op mul(%2, %3) ; 6:3-6:9 \"k * w\"\n"
      "  %5 = sink flash(q=%2, k=%4, v=%2)\n  return\n";
  const auto given_to = [&](const std::string& how, const std::string& function = "function outer\n") {
    return findings(lambda + "\n" + function + "b0:\n  %1 = const 8\n  %2 = pack(%1)\n  %3 = op ones(%2)\n" +
                    "  %4 = closure work(w=%3)\n" + how + "  return\n");
  };
  CHECK(given_to("  %5 = op torch::Library::impl(%4)\n").size() == 1);
  CHECK(given_to("  %5 = call unseen(%4)\n").size() == 1);
  CHECK(given_to("").size() == 1);  // what the front end does not follow
  CHECK(given_to("  return %4\n").size() == 1);
  CHECK(given_to("  %5 = call unseen(%4, %3)\n").empty());  // beside what is wide
  CHECK(given_to("  %5 = op std::transform(%4)\n").empty());
  CHECK(given_to("  %5 = const float32\n").empty());  // a table of dtypes
  CHECK(given_to("  %5 = call unseen(%4)\n", "function outer main\n").empty());
  const std::string table =
      "\nfunction runs\n  parameter f: other\n  parameter x: tensor\nb0:\n  %1 = param 0\n";
  CHECK(findings(table + "  %2 = param 1\n  %3 = call \"\"(%1, %2)\n  return\n" + lambda +
                 "\nfunction outer\nb0:\n  %1 = const 8\n  %2 = pack(%1)\n  %3 = op ones(%2)\n"
                 "  %4 = closure work(w=%3)\n  return %4\n")
            .size() == 1);
  CHECK(findings(table + "  %2 = param 1\n  %3 = op mul(%2, %2)\n  %4 = call \"\"(%1, %3)\n  return\n" +
                 lambda +
                 "\nfunction outer\nb0:\n  %1 = const 8\n  %2 = pack(%1)\n  %3 = op ones(%2)\n"
                 "  %4 = closure work(w=%3)\n  return %4\n")
            .empty());
}

TEST_CASE("recursion terminates") {
  const std::string recursive =
      "\nfunction again internal\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = const unknown\n"
      "  branch %2 ? b1 : b2\nb1:\n  %3 = call again(%1)\n  return %3\nb2:\n  return %1\n";
  CHECK(findings(recursive + attention_main("  %10 = call again(%1)\n", "%10", "%2", "%3")).empty());
  const std::string endless = "\nfunction ever internal\nb0:\n  %1 = call ever()\n  return %1\n";
  CHECK(findings(endless + attention_main("  %10 = call ever()\n", "%10", "%2", "%3")).empty());
}

TEST_CASE("what an unknown callee returns, or may have written, is not reported") {
  CHECK(findings(attention_main("  %10 = call elsewhere(%1)\n", "%10", "%2", "%3")).empty());
  const std::string body =
      "  %10 = op ones(%101)\n  store a, %10\n  %11 = address a\n  CALL\n  %13 = load a\n";
  const auto with = [&](const std::string& call) {
    std::string text = body;
    return text.replace(text.find("CALL"), 4, call);
  };
  CHECK(findings(attention_main(with("%12 = copy %11"), "%13", "%2", "%3")).size() == 1);
  CHECK(findings(attention_main(with("%12 = call elsewhere(%11)"), "%13", "%2", "%3")).empty());
}

TEST_CASE("an unknown callee may have replaced the elements of a list that it was handed") {
  const auto with = [](const std::string& call) {
    return findings(R"IR(
function f
  parameter all: tensor_list
  parameter q: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 2
  %4 = pack(%3)
)IR" + call + R"IR(
  %5 = load %1[0]
  %6 = op ones(%4)
  %7 = op mul(%5, %6) ; 8:3-8:9 "wide"
  %9 = sink flash(q=%7, k=%2, v=%2) ; 9:3-9:20
  return
)IR",
                    {{"bf16"}});
  };
  CHECK(with("").size() == 1);
  CHECK(with("  call elsewhere(%1)").empty());
}

TEST_CASE("a reference that leads back to itself ends") {
  CHECK(findings(attention_main("  %10 = address a\n  store a, %10\n  %11 = load a\n  %12 = op cat(%11)\n"
                                "  %13 = op stack(%10)\n",
                                "%12", "%2", "%3"))
            .empty());
}

TEST_CASE("a root beyond its budget is listed, and has no findings") {
  std::string body;
  for (int i = 10; i < 60; ++i) body += "  %" + std::to_string(i) + " = op ones(%101)\n";
  const std::string program = attention_main(body, "%10", "%2", "%3");
  LintOptions tight;
  tight.step_budget = 20;
  const AnalysisResult result = lint(program, tight);
  CHECK(result.findings.empty());
  REQUIRE(result.not_analysed.size() == 1);
  CHECK(result.not_analysed[0].function == "main");
  CHECK(result.not_analysed[0].reason ==
        "budget: more than 20 instructions were evaluated under autocast-fp16, fp16-fp32-buffers; not tried "
        "under "
        "autocast-bf16, bf16-fp32-buffers");
  CHECK(lint(program).findings.size() == 1);
}

TEST_CASE("a root beyond its budget under autocast is still evaluated as a half model") {
  std::string body;
  for (int i = 10; i < 60; ++i) body += "  %" + std::to_string(i) + " = const 1\n";
  const std::string program =
      "\nfunction f\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = op autocast_enabled::cuda()\n"
      "  branch %2 ? b1 : b2\nb1:\n" +
      body +
      "  jump b2\nb2:\n  %3 = const 2\n  %4 = pack(%3, %3)\n  %5 = op ones(%4)\n  %6 = op mul(%1, %5) ; "
      "7:3-7:9\n"
      "  %7 = sink flash(q=%6, k=%1, v=%1)\n  return\n";
  LintOptions tight;
  tight.step_budget = 20;
  const AnalysisResult result = lint(program, tight);
  CHECK(summary(result) ==
        std::vector<std::string>{
            "7 attention-implicit-promotion q in f [fp16-fp32-buffers bf16-fp32-buffers]"});
  REQUIRE(result.not_analysed.size() == 1);
  CHECK(
      result.not_analysed[0].reason ==
      "budget: more than 20 instructions were evaluated under autocast-fp16; not tried under autocast-bf16");
}

// One function has its sink itself; the other's is three calls away, behind much else.
std::string near_and_far() {
  std::string body;
  for (int i = 10; i < 60; ++i) body += "  %" + std::to_string(i) + " = const 1\n";
  const std::string widens =
      "  %2 = const 2\n  %3 = pack(%2, %2)\n  %4 = op ones(%3)\n  %5 = op mul(%1, %4) ; ";
  return "\nfunction far\n  parameter x: tensor\nb0:\n  %1 = param 0\n" + body +
         "  %60 = call one(%1)\n  return\n"
         "\nfunction one internal\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = call two(%1)\n  "
         "return\n"
         "\nfunction two internal\n  parameter x: tensor\nb0:\n  %1 = param 0\n" +
         widens +
         "7:3-7:9\n  %6 = sink flash(q=%5, k=%1, v=%1)\n  return\n"
         "\nfunction near\n  parameter x: tensor\nb0:\n  %1 = param 0\n" +
         widens + "8:3-8:9\n  %6 = sink flash(q=%5, k=%1, v=%1)\n  return\n";
}

TEST_CASE("what all functions together may take goes to those near their sinks first, the others are named") {
  LintOptions options{{"fp16"}, true};
  REQUIRE(findings(near_and_far(), options).size() == 2);
  REQUIRE(lint(near_and_far(), options).not_analysed.empty());
  options.work_budget = 40;
  const AnalysisResult result = lint(near_and_far(), options);
  CHECK(summary(result) == std::vector<std::string>{"8 attention-implicit-promotion q in near [fp16]"});
  REQUIRE(result.not_analysed.size() == 1);
  CHECK(result.not_analysed[0].function == "far");
  CHECK(result.not_analysed[0].reason == "budget: all functions together take more than they may under fp16");
  CHECK(result.left_out);
}

TEST_CASE("each setting has its share of what all functions may take, the second half type a smaller one") {
  LintOptions options;
  options.work_budget = 100;
  const AnalysisResult result = lint(near_and_far(), options);
  CHECK(summary(result) == std::vector<std::string>{
                               "8 attention-implicit-promotion q in near [autocast-fp16 fp16-fp32-buffers]"});
  REQUIRE(result.not_analysed.size() == 2);
  CHECK(result.not_analysed[0].function == "far");
  CHECK(result.not_analysed[0].reason ==
        "budget: all functions together take more than they may under autocast-fp16, autocast-bf16, "
        "fp16-fp32-buffers, bf16-fp32-buffers");
  CHECK(result.not_analysed[1].function == "near");
  CHECK(result.not_analysed[1].reason ==
        "budget: it took more than its share of what all may take under autocast-bf16, bf16-fp32-buffers");
}

// Sixty undecided branches, each of which changes one of so many variables either way. What is evaluated is
// the same however many there are, and each way copies all of them.
std::string with_variables(int count) {
  const auto variable = [&](int i) { return "v" + std::to_string(i % count); };
  std::string out = "\nfunction wide\n  parameter x: tensor\n  variables v0";
  for (int i = 1; i < count; ++i) out += ", " + variable(i);
  out += "\nb0:\n  %1 = param 0\n";
  for (int i = 0; i < 400; ++i) out += "  store " + variable(i) + ", %1\n";
  int block = 0;
  int value = 10;
  for (int i = 0; i < 60; ++i) {
    const std::string asked = std::to_string(value++), left = std::to_string(value++),
                      right = std::to_string(value++);
    const std::string one = std::to_string(block + 1), other = std::to_string(block + 2),
                      next = std::to_string(block + 3);
    out += "  %" + asked + " = call unseen()\n  branch %" + asked + " ? b" + one + " : b" + other + "\nb" +
           one + ":\n  %" + left + " = const 1\n  store " + variable(i) + ", %" + left + "\n  jump b" + next +
           "\nb" + other + ":\n  %" + right + " = const 2\n  store " + variable(i) + ", %" + right +
           "\n  jump b" + next + "\nb" + next + ":\n";
    block += 3;
  }
  return out +
         "  %2 = const 2\n  %3 = pack(%2, %2)\n  %4 = op ones(%3)\n  %5 = op mul(%1, %4) ; 7:3-7:9\n"
         "  %6 = sink flash(q=%5, k=%1, v=%1)\n  return\n";
}

TEST_CASE("what is copied and compared of a large state counts as steps do, and what that ends is named") {
  LintOptions options{{"fp16"}, true};
  options.work_budget = 12'000;
  const AnalysisResult small = lint(with_variables(4), options);
  CHECK(summary(small).size() == 1);
  CHECK(small.not_analysed.empty());
  const AnalysisResult large = lint(with_variables(400), options);
  CHECK(large.findings.empty());
  REQUIRE(large.not_analysed.size() == 1);
  CHECK(large.not_analysed[0].function == "wide");
  CHECK(large.not_analysed[0].reason == "budget: all functions together take more than they may under fp16");
  CHECK(large.steps <= 2 * small.steps);
  options.work_budget = 1'000'000;
  CHECK(summary(lint(with_variables(400), options)) == summary(small));
}

TEST_CASE("calls that double at every level end in the budget, not in a hang") {
  std::string program;
  for (int i = 0; i < 40; ++i) {
    const std::string next =
        i == 39 ? "%1 = const 1\n  %2 = const 1"
                : "%1 = call f" + std::to_string(i + 1) + "()\n  %2 = call f" + std::to_string(i + 1) + "()";
    program += "\nfunction f" + std::to_string(i) + " internal\nb0:\n  " + next + "\n  return %2\n";
  }
  program += "\nfunction main main\nb0:\n  %1 = call f0()\n  %2 = sink flash(q=%1, k=%1, v=%1)\n  return\n";
  LintOptions options{{"bf16"}};
  options.step_budget = 20'000;
  CHECK(lint(program, options).not_analysed.size() == 1);
}

TEST_CASE(
    "a root that comes to no call with a contract is not evaluated, one that does through a lambda is") {
  LintOptions options{{"bf16"}};
  options.step_budget = 1;
  const std::string quiet = "\nfunction quiet\nb0:\n  %1 = const 1\n  %2 = const 2\n  return\n";
  CHECK(lint(quiet, options).not_analysed.empty());
  const std::string lambda =
      "\nlambda inner internal\nb0:\n  %1 = param 0\n  %2 = sink flash(q=%1, k=%1, v=%1)\n"
      "  return\n\nfunction outer\nb0:\n  %1 = closure inner()\n  %2 = const 2\n  return\n";
  const AnalysisResult result = lint(quiet + lambda, options);
  REQUIRE(result.not_analysed.size() == 1);
  CHECK(result.not_analysed[0].function == "outer");
}

}  // namespace
}  // namespace dtype_guard::flow
