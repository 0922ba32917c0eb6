// What classes inherit, what objects that callers hand in hold, and containers that grow.
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/link.h"
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {

// Base::run widens, Middle::run does not, Bottom has none of its own.
const char* const kMethods = R"IR(
method Base::run key base_run of Base
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 8
  %4 = pack(%3)
  %5 = op ones(%4)
  %6 = op mul(%2, %5) ; 7:3-7:9 "x * w"
  return %6

method Middle::run key middle_run of Middle
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  return %2
)IR";

std::string calls_on(const std::string& type) {
  return kMethods +
         attention_main("  %10 = object " + type + "()\n  %11 = call virtual::run::base_run(%10, %1)\n",
                        "%11", "%2", "%3");
}

TEST_CASE("a virtual call runs what the class of the object inherits from the nearest base") {
  const std::string classes = "class Base\nclass Middle : Base\nclass Bottom : Middle\nclass Other : Base\n";
  CHECK(findings(classes + calls_on("Bottom")).empty());
  CHECK(findings(classes + calls_on("Middle")).empty());
  CHECK(findings(classes + calls_on("Other")).size() == 1);
  CHECK(findings(classes + calls_on("Base")).size() == 1);
}

// Of an object that is handed in only Start is known, which has no run of its own.
std::vector<std::string> called_through(const std::string& classes) {
  const std::string keeps = R"IR(
method Keeps::run key keeps_run of Keeps
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  return %2
)IR";
  return findings(classes + kMethods + keeps + R"IR(
function attend
  parameter start: object "Start"
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = call virtual::run::start_run(%1, %2)
  %5 = sink flash(q=%4, k=%3, v=%3)
  return
)IR");
}

TEST_CASE("a virtual call through a local base has the joined result of all derived classes") {
  const std::string start = "class Start local\n", base = "class Base : Start local\n  virtual base_run\n";
  CHECK(called_through(base + start).size() == 1);
  CHECK(called_through("class Base : Start local\n  virtual base_run\nclass Start\n").empty());
  CHECK(called_through(base + "class Keeps : Start local\n  virtual keeps_run\n" + start).empty());
  CHECK(called_through(base + "class Keeps : Start\n" + start).empty());
  CHECK(called_through(base + "class Gone : Start local\n  virtual gone_run\n" + start).empty());
  CHECK(called_through(base + "class Other : Start local\n" + start).size() == 1);
}

// Own::set widens what it is given, Own::attend multiplies by that.
std::vector<std::string> set_later(const std::string& facts, const std::string& more = "") {
  return findings("class Own\n" + facts + R"IR(
constructor Own::Own key own_own of Own
b0:
  %1 = param 0
  %2 = const none
  store %1.scale, %2
  return
method Own::set key own_set of Own
  parameter s: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const float32
  %4 = op to(self=%2, dtype=%3) ; 7:3-7:9 "s.to(at::kFloat)"
  %5 = const 8
  %6 = pack(%5)
  %7 = op view(self=%4, size=%6)
  store %1.scale, %7
  return
method Own::attend key own_attend of Own
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = load %1.scale
  %5 = op mul(%2, %4)
  %6 = sink flash(q=%5, k=%3, v=%3)
  return
)IR" + more);
}

TEST_CASE("a tensor that only a method sets has the value that the method stores") {
  CHECK(set_later("  owned scale\n").size() == 1);
  CHECK(set_later("").empty());
  CHECK(set_later("  setter own_gone\n  owned scale\n").empty());
  CHECK(set_later("  setter own_set\n  owned scale\n").size() == 1);
  const auto other = [](const std::string& body) {
    return set_later("  owned scale\n",
                     "method Own::other key own_other of Own\nb0:\n  %1 = param 0\n" + body + "  return\n");
  };
  CHECK(other("  %2 = const none\n  store %1.scale, %2\n").size() == 1);
  CHECK(other("  %2 = load %1.scale\n  %3 = const float16\n  %4 = op to(self=%2, dtype=%3)\n"
              "  store %1.scale, %4\n")
            .empty());
  CHECK(other("  %2 = address %1.scale\n").empty());
  CHECK(other("  %2 = load %1.scale\n  %3 = const float16\n  retype %2, %3\n").empty());
  CHECK(other("  %2 = load %1.next\n  store %2.scale, %1\n").empty());
}

TEST_CASE("virtual calls on a class with two definitions are unknown") {
  std::vector<Module> modules;
  for (const char* each : {"class Bottom : Middle\n", "class Bottom : Base\n", "class Bottom : Middle\n"}) {
    modules.push_back(parse(each));
  }
  const Module module = link(std::move(modules));
  REQUIRE(module.classes.size() == 1);
  CHECK(module.classes[0].bases == std::vector<std::string>{std::string(kUnknownClass)});
  CHECK(findings(print(module) + calls_on("Bottom")).empty());
}

TEST_CASE("of a class with two definitions, unseen code may set what is settable in either") {
  std::vector<Module> modules;
  for (const char* each : {"class A\n  settable a: dtype\n", "class A\n  settable b: number\n"})
    modules.push_back(parse(each));
  CHECK(print(link(std::move(modules))) ==
        "class A : \"?\"\n  settable a: dtype &\n  settable b: number &\n");
}

TEST_CASE("members of an object that an external caller passes are inputs") {
  const std::string classes =
      "class Inputs\n  field q: tensor\n  field more: object \"More\"\nclass More\n  field k: tensor\n";
  const std::string function = R"IR(
function attend
  parameter in: object "Inputs"
b0:
  %1 = param 0
  %2 = load %1.q
  %3 = load %1.more.k
  %4 = const 8
  %5 = pack(%4)
  %6 = op ones(%5)
  %7 = op mul(%2, %6) ; 7:3-7:9 "q * w"
  %8 = sink flash(q=%7, k=%3, v=%3)
  return
)IR";
  CHECK(findings(classes + function).size() == 1);
  CHECK(findings(function).empty());  // a class without facts
}

// A constructor makes `compute` float32; run() casts to it.
std::string object_with_default(const std::string& facts, const std::string& more) {
  return "class Options\n" + facts + R"IR(
constructor Options::Options key made of Options
b0:
  %1 = param 0
  %2 = const float32
  store %1.compute, %2
  return

method Options::run key run of Options
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const float16
  %4 = op to(%2, %3)
  %5 = load %1.compute
  %6 = op to(%4, %5) ; 7:3-7:9 "h.to(compute)"
  %7 = sink flash(q=%6, k=%4, v=%4)
  return
)IR" + more;
}

TEST_CASE("a member that unseen code may set need not have the constructor's value") {
  const std::string set = R"IR(
method Options::set key set of Options
  parameter to: dtype
b0:
  %1 = param 0
  %2 = param 1
  store %1.compute, %2
  return
)IR";
  const std::string elsewhere = R"IR(
method Other::set key other of Other
  parameter to: dtype
b0:
  %1 = param 0
  %2 = param 1
  store %1.compute, %2
  return
)IR";
  CHECK(findings(object_with_default("", "")).size() == 1);
  CHECK(findings(object_with_default("  settable compute: dtype\n", "")).size() == 1);
  CHECK(findings(object_with_default("  settable compute: dtype &\n", "")).empty());
  CHECK(findings(object_with_default("  settable compute: dtype\n", set)).empty());
  CHECK(findings(object_with_default("  settable compute: dtype\nclass Other\n", elsewhere)).size() == 1);
  CHECK(
      findings(object_with_default("  settable compute: dtype\nclass Other : Options\n", elsewhere)).empty());
  CHECK(findings(object_with_default("  settable compute: dtype\n  setter unseen\n", "")).empty());
  CHECK(findings(object_with_default("  settable compute: dtype\n  setter run\n", "")).size() == 1);
}

TEST_CASE("a registered operator runs the kernel of the device, unless something may come before it") {
  const auto kernel = [](const std::string& key, const std::string& callee) {
    return "\nfunction own::f key \"operator::own::f@" + key +
           "\" internal foreign\n  parameter x: other\nb0:\n  %1 = param 0\n  %2 = call " + callee +
           "(%1)\n  return %2\n";
  };
  const std::string kernels = R"IR(
function wide internal
  parameter x: tensor
b0:
  %1 = param 0
  %2 = const 8
  %3 = pack(%2)
  %4 = op ones(%3)
  %5 = op mul(%1, %4) ; 7:3-7:9 "x * w"
  return %5

function same internal
  parameter x: tensor
b0:
  %1 = param 0
  return %1
)IR";
  const std::string call = attention_main("  %10 = call operator::own::f(%1)\n", "%10", "%2", "%3");
  CHECK(findings(kernels + call).empty());
  CHECK(findings(kernels + kernel("CUDA", "wide") + call).size() == 1);
  CHECK(findings(kernels + kernel("CompositeImplicitAutograd", "wide") + call).size() == 1);
  CHECK(findings(kernels + kernel("CUDA", "same") + kernel("CompositeImplicitAutograd", "wide") + call)
            .empty());
  CHECK(findings(kernels + kernel("CPU", "wide") + call).empty());
  CHECK(findings(kernels + kernel("CUDA", "wide") + kernel("AutogradCUDA", "wide") + call).empty());
  CHECK(findings(kernels + kernel("CUDA", "wide") + kernel("?", "wide") + call).empty());
  const std::string autocast = kernel("CUDA", "wide") + kernel("AutocastCUDA", "same");
  CHECK(findings(kernels + autocast + call).size() == 1);
  const std::string on = "  %9 = const true\n  set_autocast cuda(on=%9)\n  %10 = call operator::own::f(%1)\n";
  CHECK(findings(kernels + autocast + attention_main(on, "%10", "%2", "%3")).empty());
}

TEST_CASE("elements that are added stay apart; in a loop they do not") {
  const std::string made =
      "  %10 = pack()\n  store a, %10\n  %11 = const 8\n  %12 = pack(%11)\n"
      "  %13 = op ones(%12)\n  %14 = op mul(%1, %13) ; 7:3-7:9 \"q * w\"\n";
  const std::string both =
      made + "  store a[+], %14\n  store a[+], %2\n  %15 = load a[0]\n  %16 = load a[1]\n";
  CHECK(findings(attention_main(both, "%16", "%2", "%3")).empty());
  CHECK(findings(attention_main(both, "%15", "%2", "%3")).size() == 1);
  const std::string joined = both + "  %17 = load a\n  %18 = op cat(%17)\n";
  CHECK(findings(attention_main(joined, "%18", "%2", "%3")).size() == 1);
  const std::string rest = made + "  store a[*], %14\n  store a[*], %2\n  %16 = load a[1]\n";
  CHECK(findings(attention_main(rest, "%16", "%2", "%3")).empty());
  const std::string after = made + "  store a[*], %14\n  store a[+], %2\n  %16 = load a[0]\n";
  CHECK(findings(attention_main(after, "%16", "%2", "%3")).empty());
}

TEST_CASE("the default dtype can be asked for and restored") {
  const std::string body =
      "  %10 = op default_dtype()\n  set_default_dtype %102\n  %11 = const 8\n  %12 = pack(%11)\n"
      "  %13 = op ones(%12)\n  %14 = op mul(%1, %13)\n  set_default_dtype %10\n"
      "  %15 = op ones(%12)\n  %16 = op mul(%2, %15) ; 7:3-7:9 \"k * w\"\n";
  CHECK(findings(attention_main(body, "%14", "%2", "%3")).empty());
  CHECK(findings(attention_main(body, "%1", "%16", "%3")).size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
