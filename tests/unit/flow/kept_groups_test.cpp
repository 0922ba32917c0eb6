// What groups of roots gave in an earlier run: which of them hold in a program that differs. That they say
// the same is asked of every program of these tests (lint_text.cpp).
#include "analyzer/flow/kept_groups.h"

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/threaded_analysis.h"
#include "analyzer/flow/workers.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

constexpr const char* kShared = R"(
file "f.cpp"
function near
  parameter x: tensor
b0:
  %1 = param 0 ; 1:1-1:2
  %2 = op relu(%1) ; 2:1-2:2
  return %2

function one
  parameter q: tensor
b0:
  %1 = param 0 ; 11:1-11:2
  %2 = call near(%1) ; 12:1-12:2
  %3 = sink flash_attn_func(q=%2, k=%2, v=%2) ; 13:1-13:2
  return

function other
  parameter q: tensor
b0:
  %1 = param 0 ; 21:1-21:2
  %2 = op tanh(%1) ; 22:1-22:2
  %3 = sink flash_attn_func(q=%2, k=%2, v=%2) ; 23:1-23:2
  return
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

struct Kept {
  KeptGroups groups;
  // How many of the groups hold in the program.
  std::size_t held_in(const std::string& text) {
    const Module module = parse(text);
    const Program program(module);
    KeptGroups copy = groups;
    copy.begin(program);
    std::size_t out = 0;
    for (const auto& [key, group] : copy.groups) out += copy.find(key, program) ? 1 : 0;
    return out;
  }
  AnalysisResult run(const std::string& text) {
    const Module module = parse(text);
    const Program program(module);
    AnalysisOptions options;
    options.settings = {precision_settings().front()};
    options.contracts = &builtin_contracts();
    groups.begin(program);
    Workers workers(program, 1, &groups);
    AnalysisResult out = analyse(program, roots_to_analyse(program), options, workers);
    groups.end();
    return out;
  }
};

TEST_CASE("kept groups hold while nothing that they rest on differs", "[flow]") {
  Kept kept;
  kept.run(kShared);
  REQUIRE(kept.held_in(kShared) == 2);
  CHECK(kept.held_in(replaced(kShared, "op tanh", "op relu")) == 1);      // of the one alone
  CHECK(kept.held_in(replaced(kShared, "op relu", "op tanh")) == 1);      // of what the other runs
  CHECK(kept.held_in(replaced(kShared, "22:1-22:2", "22:1-22:9")) == 1);  // a place that a message names
  // What a key says of the place of a definition is no part of what it is: here all moved by a line.
  const std::string placed =
      replaced(replaced(kShared, "function near", "function near key \"py:f.near@1:1\""), "call near",
               "call \"py:f.near@1:1\"");
  Kept of_placed;
  of_placed.run(placed);
  REQUIRE(of_placed.held_in(placed) == 2);
  CHECK(of_placed.held_in(replaced(replaced(placed, "near@1:1", "near@2:1"), "near@1:1", "near@2:1")) == 1);
  CHECK(of_placed.held_in(replaced(placed, "near@1:1", "near@2:1")) == 0);  // the call is of something else
  // A function, a call, a field or a parameter more, and nothing is known of who may reach it.
  CHECK(kept.held_in(std::string(kShared) + "\nfunction late\nb0:\n  return\n") == 0);
  CHECK(kept.held_in(replaced(kShared, "op tanh(%1)", "call near(%1)")) == 0);
  CHECK(kept.held_in(replaced(kShared, "  parameter x: tensor", "  parameter x: object \"T\"")) == 0);
  CHECK(kept.held_in(replaced(kShared, "function near", "class T : Base\nfunction near")) == 0);
  CHECK(kept.held_in(replaced(kShared, "f.cpp", "g.cpp")) == 0);
}

// What is wide comes back to the function through its caller, and the message says so.
constexpr const char* kCalled = R"(
function step internal
  parameter q: tensor
b0:
  %1 = param 0 ; 31:1-31:2
  %2 = const float32
  %3 = cast %1, %2 ; 32:1-32:2
  %4 = sink flash_attn_func(q=%3, k=%1, v=%1) ; 33:1-33:2
  return %3

function drive
  parameter q: tensor
b0:
  %1 = param 0 ; 41:1-41:2
  %2 = call step(%1) ; 42:1-42:2
  %3 = op relu(%2) ; 43:1-43:2
  return
)";

TEST_CASE("a group with a finding is kept, with what its message rests on", "[flow]") {
  Kept kept;
  const std::string text = std::string(kShared) + kCalled;
  const AnalysisResult first = kept.run(text);
  REQUIRE(first.findings.size() == 1);
  REQUIRE(kept.held_in(text) == 3);
  const std::string other = replaced(text, "op tanh", "op relu");
  CHECK(kept.held_in(other) == 2);
  CHECK(kept.held_in(replaced(text, "43:1-43:2", "43:1-43:9")) == 2);  // of the caller
  const AnalysisResult again = kept.run(other);
  REQUIRE(again.findings.size() == 1);
  CHECK(again.findings.front().message == first.findings.front().message);
  CHECK(again.findings.front().precision == first.findings.front().precision);
}

// A class that is made half by the one program that makes it, and a root that is looked at otherwise for it.
constexpr const char* kMade = R"(
file "f.cpp"
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

method A::forward key a_forward of A module
  parameter q: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = load %1.weight
  %4 = op mul(%2, %3) ; 9:3-9:9
  %5 = sink flash_attn_func(q=%4, k=%2, v=%2) ; 10:3-10:20
  return

function build
b0:
  %2 = object A()
  call a_made(%2)
  %4 = const float16
  retype %2, %4
  return

function other
  parameter q: tensor
b0:
  %1 = param 0 ; 21:1-21:2
  %2 = op tanh(%1) ; 22:1-22:2
  %3 = sink flash_attn_func(q=%2, k=%2, v=%2) ; 23:1-23:2
  return
)";

TEST_CASE("what roots left half is kept until something that it rests on differs", "[flow]") {
  Kept kept;
  kept.run(kMade);
  const auto halves = [&](const std::string& text) {
    const Module module = parse(text);
    const Program program(module);
    KeptGroups copy = kept.groups;
    copy.begin(program);
    std::size_t out = 0;
    for (const auto& [key, each] : copy.halves_of_roots) out += copy.find_halves(key, program) ? 1 : 0;
    return out;
  };
  const std::size_t all = halves(kMade);
  REQUIRE(all > 0);
  CHECK(halves(replaced(kMade, "op tanh", "op relu")) == all);  // of a root that makes nothing half
  CHECK(halves(replaced(kMade, "const float16", "const bfloat16")) == 0);
}

}  // namespace
}  // namespace dtype_guard::flow
