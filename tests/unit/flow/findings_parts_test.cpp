// Parts that make a report of what evaluations recorded: here the records are written down.
#include <string>
#include <vector>

#include "analyzer/flow/findings/findings.h"
#include "analyzer/flow/findings/reached_calls.h"
#include "analyzer/flow/findings/unseen_calls.h"
#include "analyzer/flow/ir/text.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

// What one root and setting say of the product in line `line`.
CollectedFinding account(int line, const std::string& precision, std::size_t steps = 1) {
  CollectedFinding out;
  Finding& finding = out.finding;
  finding.rule = "attention-implicit-promotion";
  finding.location = {"f.cpp", line, 3, line, 9, "f"};
  finding.api = "flash_attn_func";
  finding.sinks = {{"flash_attn_func", "q", {"f.cpp", 9, 1, 9, 2, "f"}}};
  finding.path.assign(steps, {finding.location, "mul", "float16", "float32", "", {}});
  finding.path.push_back({finding.sinks[0].location, "flash_attn_func", "float32", "float32", "", {}});
  finding.precision = {precision};
  finding.torch = {"2.13"};
  finding.message = std::to_string(steps) + " steps";
  out.expression = "q*w";
  out.promoting = finding.location;
  return out;
}

const char* const kProgram = R"IR(file "f.cpp"
function inner key inner
  parameter x: tensor
b0:
  %1 = param 0
  %2 = sink flash_attn_func(q=%1, k=%1, v=%1) ; 3:3-3:9 "attend(x)"
  return

function outer key outer
  parameter x: tensor
b0:
  %1 = param 0
  call inner(%1)
  %2 = call "?flash_attn.flash_attn_varlen_func"(%1) ; 5:3-5:9 "flash_attn_varlen_func(x)"
  %3 = load %1.attn
  %4 = call attribute::__call__(%3) ; 6:3-6:9 "x.attn(x)"
  %5 = call attribute::__call__(%3) ; 7:3-7:9 "x.norm(x)"
  return
)IR";

struct Indexed {
  std::uint32_t id(std::string_view key) const { return index.find(key).front(); }
  const Instruction& at(std::string_view key, ValueId value) const {
    return *index.info(id(key)).definition(value);
  }
  // What one root's evaluation recorded of the call in `inner`.
  SinkRecord record(std::string_view root, Dtype k) const {
    SinkRecord out;
    out.root = id(root);
    out.function = id("inner");
    out.instruction = &at("inner", 2);
    out.operands = {{"q", {Alternative::tensor(Dtype::kFloat16, {})}, 0},
                    {"k", {Alternative::tensor(k, {})}, 0}};
    return out;
  }
  Module module = parse(kProgram);
  FunctionIndex index{module};
  AnalysisOptions options;
};

}  // namespace

TEST_CASE_METHOD(Indexed, "finding collector: accounts of one expression are one finding, the shortest") {
  FindingCollector collector(module, options);
  collector.add(account(5, "bf16", 3));
  collector.add(account(5, "fp16", 1));
  collector.add(account(4, "fp16", 2));
  const std::vector<Finding> all = collector.take();
  REQUIRE(all.size() == 2);
  CHECK(all[0].location.line == 4);
  CHECK(all[1].message == "1 steps");
  CHECK(all[1].precision == std::vector<std::string>{"bf16", "fp16"});
  CHECK(!all[1].fingerprint.empty());
  CHECK(all[0].fingerprint == all[1].fingerprint);  // lines are no part of it
  CHECK(collector.take().empty());
}

TEST_CASE_METHOD(Indexed, "finding collector: what breaks in some versions only says in which") {
  options.torch_versions = {"2.11", "2.12", "2.13"};
  FindingCollector collector(module, options);
  collector.add(account(5, "bf16"));
  const std::vector<Finding> all = collector.take();
  REQUIRE(all.size() == 1);
  CHECK(all[0].message == "1 steps; in torch 2.13 only, of 2.11 to 2.13");
  CHECK((all[0].rule == "version-dependent-dtype" || !all[0].also_rules.empty()));
}

TEST_CASE_METHOD(Indexed, "finding collector: a sink's place is that of the recorded call") {
  const Sink sink = FindingCollector(module, options)
                        .sink({&builtin_contracts().apis.front(),
                               SinkPlace::kCall,
                               0,
                               id("inner"),
                               &at("inner", 2),
                               0,
                               {},
                               {},
                               {},
                               false,
                               false,
                               false,
                               {}},
                              "q");
  CHECK(sink.role == "q");
  CHECK(sink.location.line == 3);
  CHECK(sink.location.file == "f.cpp");
  CHECK(sink.location.function == "inner");
}

TEST_CASE_METHOD(Indexed,
                 "reached calls: one that no root comes to is listed as such, with who was given up") {
  const Program program(module);
  ReachedCalls calls(program);
  const std::vector<ReachedCall> all = calls.list({{id("inner"), "outer"}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].api == "flash_attn_func");
  CHECK(all[0].function == "inner");
  CHECK(!all[0].reached);
  CHECK(all[0].given_up == "outer");
}

TEST_CASE_METHOD(Indexed, "reached calls: what an outermost root knows of an operand is known") {
  const Program program(module);
  ReachedCalls calls(program);
  calls.note({record("outer", Dtype::kUndefined)});
  CHECK(calls.list({})[0].unknown == std::vector<std::string>{"k"});
  ReachedCalls better(program);
  better.note({record("inner", Dtype::kUndefined), record("outer", Dtype::kFloat16)});
  CHECK(better.list({})[0].operands == 2);
  CHECK(better.list({})[0].decided());
}

TEST_CASE_METHOD(Indexed, "unseen calls: spelt like attention, and not followed") {
  UnseenCalls calls(index, builtin_contracts());
  REQUIRE(calls.list({}).size() == 1);
  CHECK(calls.list({})[0].cause == UnseenCall::Cause::kLibrary);
  CHECK(calls.list({})[0].detail == "flash_attn");
  FollowedCalls seen;
  seen.lost = {&at("outer", 4), &at("outer", 5)};
  calls.note(seen);
  const std::vector<UnseenCall> all = calls.list({});
  REQUIRE(all.size() == 2);
  CHECK(all[1].name == "attn");
  CHECK(all[1].function == "outer");
  CHECK(all[1].cause == UnseenCall::Cause::kUnknown);
  CHECK(calls.list({{id("outer"), "root"}})[1].cause == UnseenCall::Cause::kBudget);
  seen.followed = {&at("outer", 4)};
  calls.note(seen);
  CHECK(calls.list({}).size() == 1);
}

}  // namespace dtype_guard::flow
