// Parts that say which roots are evaluated, how, and what an earlier analysis knows of them. None evaluates.
#include <string>
#include <vector>

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/queries/lineage.h"
#include "analyzer/flow/root_memo.h"
#include "analyzer/flow/roots/given_up.h"
#include "analyzer/flow/roots/options_by_root.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

struct Parsed {
  explicit Parsed(const std::string& text) : module(parse("file \"f.cpp\"\n" + text)) {}
  std::uint32_t id(std::string_view key) const { return index.find(key).front(); }
  Module module;
  FunctionIndex index{module};
};

PrecisionSetting setting(const std::string& name) {
  for (const PrecisionSetting& each : precision_settings()) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no such setting");
}

const char* const kPair =
    "function f key f ; f.cpp:3:1-3:2\nb0:\n  call g()\n  return\nfunction g key g\nb0:\n  return\n";

const char* const kDevices = R"(
function on_cpu key on_cpu
b0:
  %1 = const true
  set_autocast cpu(on=%1)
  return

function both key both
b0:
  call on_cpu()
  %1 = const "cuda:0"
  return

function asks key asks
  parameter x: tensor
b0:
  %1 = param 0
  %2 = op is_cuda(%1)
  return

function plain key plain
b0:
  return
)";

}  // namespace

TEST_CASE("given up: what explodes under autocast is pointless under autocast, and nowhere else") {
  const Parsed of(kPair);
  GivenUp given_up;
  CHECK(!given_up.is_pointless(of.id("f"), setting("autocast-bf16")));
  given_up.exceeded(of.id("f"), setting("autocast-fp16"), "too long");
  CHECK(given_up.is_pointless(of.id("f"), setting("autocast-bf16")));
  CHECK(!given_up.is_pointless(of.id("f"), setting("bf16")));
  CHECK(!given_up.is_pointless(of.id("g"), setting("autocast-bf16")));
  std::vector<NotLowered> list;
  given_up.list(of.module, list);
  REQUIRE(list.size() == 1);
  CHECK(list[0].function == "f");
  CHECK(list[0].reason == "budget: too long under autocast-fp16; not tried under autocast-bf16");
  CHECK(given_up.functions(of.index) ==
        std::map<std::uint32_t, std::string>{{of.id("f"), "f"}, {of.id("g"), "f"}});
}

TEST_CASE("given up: a root that is left out may be tried under the next setting") {
  const Parsed of(kPair);
  GivenUp given_up;
  given_up.left_out(of.id("g"), setting("fp16"));
  CHECK(!given_up.is_pointless(of.id("g"), setting("fp16")));
  std::vector<NotLowered> list;
  given_up.list(of.module, list);
  REQUIRE(list.size() == 1);
  CHECK(list[0].reason == "budget: all functions together take more than they may under fp16");
}

TEST_CASE("shares: a setting's twin has a quarter of its share, and what is spare goes to those behind") {
  AnalysisOptions options;
  options.work_budget = 90;
  Shares shares({setting("fp16"), setting("bf16"), setting("fp32")}, options);
  CHECK(shares.next(0, 0) == 40);
  CHECK(shares.next(1, 0) == 18);   // of 90 that are left for five parts
  CHECK(shares.next(2, 10) == 80);  // the last has the rest
  options.torch_versions = {"2.12", "2.13"};
  CHECK(Shares({setting("fp16")}, options).next(0, 0) == 44);  // in whole eighths
  CHECK(Shares({setting("fp16")}, options).next(0, 100) == 0);
}

TEST_CASE("shares: a root takes half of what is left, or 16 equal parts if that is less, the last one all") {
  CHECK(share_of_root(80, 3) == 40);
  CHECK(share_of_root(81, 3) == 40);  // in whole eighths
  CHECK(share_of_root(81, 0) == 81);
  CHECK(share_of_root(8'000, 31) == 3'840);  // of 7,680
  CHECK(share_of_root(81'920, 639) == 2'048);
  CHECK(share_of_root(0, 5) == 0);
}

TEST_CASE("named devices: a root that turns autocast on for the CPU alone is for the CPU") {
  const Parsed of(kDevices);
  const Callers callers(of.index);
  NamedDevices devices(of.index, callers);
  CHECK(devices.of(of.id("on_cpu")) == "cpu");
  CHECK(devices.of(of.id("both")).empty());
  CHECK(devices.of(of.id("plain")).empty());
  CHECK(devices.may_have_others(of.id("asks")));
  CHECK(!devices.may_have_others(of.id("plain")));
}

TEST_CASE("options by root: the code's device, unless the user named one") {
  const Parsed of(kDevices);
  AnalysisOptions options;
  const Program program(of.module);
  OptionsByRoot by_root(program, options);
  CHECK(by_root.of(of.id("on_cpu")).device == "cpu");
  CHECK(&by_root.of(of.id("plain")) == &options);
  CHECK(by_root.of(of.id("asks")).kernels_chosen);
  options.device_named_by_user = true;
  CHECK(OptionsByRoot(program, options).of(of.id("on_cpu")).device == "cuda");
}

TEST_CASE("lineage: along operands, variables, calls and fields, and not by what only a dtype goes to") {
  const Parsed of(R"(
function half key half
  parameter x: tensor
b0:
  %1 = param 0
  %2 = op neg(%1)
  return %2

function f key f
  parameter x: tensor
  parameter y: tensor
  variables v
b0:
  %1 = param 0
  %2 = param 1
  %3 = call half(%1)
  store v, %3
  %4 = load v
  %5 = op mul(%4, %2)
  %6 = dtype_of %1
  %7 = op zeros(dtype=%6)
  store %2.kept, %1
  return

function reads key reads
  parameter y: object "T"
b0:
  %1 = param 0
  %2 = load %1.kept
  %3 = op neg(%2)
  return
)");
  const FunctionIndex& index = of.index;
  const Lineage lineage(index);
  const std::uint32_t f = of.id("f"), reads = of.id("reads");
  const auto made = [&](std::uint32_t function, ValueId id) -> const Instruction& {
    return *index.info(function).definition(id);
  };
  CHECK(lineage.derives(f, made(f, 5), f, 1));
  CHECK(lineage.derives(f, made(f, 5), of.id("half"), 2));
  CHECK(!lineage.derives(f, made(f, 3), f, 2));
  CHECK(!lineage.derives(f, made(f, 7), f, 1));
  CHECK(lineage.derives(reads, made(reads, 3), f, 1));
}

TEST_CASE("root memo: what is kept is found by root and by how it was asked, until it is forgotten") {
  const Parsed of(kPair);
  const std::string f = RootMemo::name_of(of.module, of.id("f"));
  CHECK(f == "f@f.cpp:3");
  RootMemo memo;
  KeptRoot root;
  root.ran = std::set<std::uint32_t>{of.id("g")};
  memo.kept("", "fp16", "2.13")[f] = root;
  CHECK(memo.kept("", "bf16", "2.13").empty());
  CHECK(memo.knows_what_ran());
  memo.forget_that_ran({of.id("f")});
  CHECK(memo.kept("", "fp16", "2.13").size() == 1);
  memo.forget_that_ran({of.id("g")});
  CHECK(memo.kept("", "fp16", "2.13").empty());
  memo.kept("", "fp16", "2.13")[f] = root;
  memo.forget_what_ran();
  CHECK(!memo.knows_what_ran());
  memo.forget({f});
  CHECK(memo.kept("", "fp16", "2.13").empty());
  int found = 0;
  const auto find = [&] { return ++found, std::vector<std::uint32_t>{1}; };
  CHECK(memo.roots(find).size() == 1);
  memo.roots(find);
  CHECK(found == 1);
  memo.forget_program();
  memo.roots(find);
  CHECK(found == 2);
}

TEST_CASE("root memo: fixes are taken over by findings that are as they were, in files that did not change") {
  RootMemo memo;
  std::vector<Finding> found(2);
  found[0].location.file = "a.cpp";
  found[1].location.file = "b.cpp";
  CHECK(memo.take_over_fixes("", found).size() == 2);
  CHECK(!memo.lacks_fixes());
  found[0].fixes.emplace_back();
  memo.keep_fixes("", found);
  memo.search_fixes(false);
  memo.note_changed({"b.cpp"});
  std::vector<Finding> again = found;
  again[0].fixes.clear();
  CHECK(memo.take_over_fixes("", again) == std::vector<Finding*>{&again[1]});
  CHECK(again[0].fixes.size() == 1);
  CHECK(memo.lacks_fixes());
  memo.end_search();
  CHECK(memo.take_over_fixes("", again).size() == 1);  // what was not searched is as old as it was
  memo.search_fixes(true);
  memo.keep_fixes("", again);
  memo.end_search();
  CHECK(!memo.lacks_fixes());
  CHECK(memo.take_over_fixes("", again).empty());
  CHECK(memo.take_over_fixes("other variant", again).size() == 2);
}

TEST_CASE("kept roots: with a memo a root is evaluated once, and gives its findings again") {
  const Parsed of(kPair);
  AnalysisOptions options;
  RootMemo memo;
  FindingCollector collector(of.module, options);
  int evaluated = 0;
  const auto evaluate = [&](KeptRoot& now) {
    ++evaluated;
    now.problem = "too long";
  };
  KeptRoots without(of.module, options);
  without.begin("fp16", "2.13");
  without.of(of.id("f"), collector, evaluate);
  without.of(of.id("f"), collector, evaluate);
  CHECK(evaluated == 2);
  options.memo = &memo;
  KeptRoots with(of.module, options);
  with.begin("fp16", "2.13");
  with.of(of.id("f"), collector, evaluate);
  CHECK(!memo.was_used());
  memo.kept("", "fp16", "2.13").begin()->second.findings.emplace_back().finding.rule = "a-rule";
  CHECK(with.of(of.id("f"), collector, evaluate).problem == "too long");
  CHECK(evaluated == 3);
  CHECK(memo.was_used());
  CHECK(collector.take().size() == 1);
  with.begin("bf16", "2.13");
  with.of(of.id("f"), collector, evaluate);
  CHECK(evaluated == 4);
}

}  // namespace dtype_guard::flow
