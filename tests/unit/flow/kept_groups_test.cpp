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
    for (const auto& [key, group] : copy.lasting().groups) out += copy.find(key, program) ? 1 : 0;
    return out;
  }
  void run(const std::string& text) {
    const Module module = parse(text);
    const Program program(module);
    AnalysisOptions options;
    options.settings = {precision_settings().front()};
    options.contracts = &builtin_contracts();
    groups.begin(program);
    Workers workers(program, 1, &groups);
    analyse(program, roots_to_analyse(program), options, workers);
    groups.end();
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

TEST_CASE("a group with a finding is not kept", "[flow]") {
  Kept kept;
  kept.run(replaced(replaced(kShared, "op tanh(%1)", "cast %1, %4"), "  %2 = cast",
                    "  %4 = const float32\n  %2 = cast"));
  CHECK(kept.groups.lasting().groups.size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
