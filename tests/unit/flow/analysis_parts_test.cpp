// What looks at roots with the engine: the engine itself, a pass over roots of one setting, several in their
// order, and what threads and earlier runs have to do with it.
#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/kept_groups.h"
#include "analyzer/flow/pass.h"
#include "analyzer/flow/roots_in_order.h"
#include "analyzer/flow/workers.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

// A root that widens its query, one that does not, and one whose slopes a caller casts to what is taken.
const char* const kProgram = R"IR(file "f.cpp"
function widens key widens
  parameter q: tensor
b0:
  %1 = param 0
  %2 = const float32
  %3 = const 8
  %4 = pack(%3)
  %5 = op ones(size=%4, dtype=%2)
  %6 = op mul(self=%1, other=%5) ; 3:3-3:9 "q * w"
  %7 = sink flash_attn_func(q=%6, k=%1, v=%1) ; 4:3-4:9
  return

function plain key plain
  parameter q: tensor
b0:
  %1 = param 0
  %2 = sink flash_attn_func(q=%1, k=%1, v=%1) ; 6:3-6:9
  return

function slopes key slopes
  parameter q: tensor
  parameter s: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = sink mha_fwd(q=%1, k=%1, v=%1, alibi_slopes=%2) ; 8:3-8:9
  return

function caller key caller
  parameter q: tensor
  parameter s: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = const float32
  %4 = cast %2, %3
  call slopes(%1, %4)
  return
)IR";

struct Analysed {
  explicit Analysed(const std::string& text = kProgram) : module(parse(text)) {
    options.contracts = &builtin_contracts();
  }
  std::uint32_t id(std::string_view key) const { return program.functions.find(key).front(); }

  Module module;
  Program program{module};
  AnalysisOptions options;
  PrecisionSetting setting{
      "half", Dtype::kFloat16, Dtype::kFloat16, Dtype::kFloat16, Dtype::kFloat16, Dtype::kUndefined, false};
  std::string version = "2.13";
  Work work;
};

using Ids = std::vector<std::uint32_t>;

// What roots gave, in the order in which it was taken.
struct Order {
  Order(Analysed& of, std::size_t allowed, unsigned threads, const Ids& roots) {
    std::vector<AskedRoot> asked;
    for (const std::uint32_t each : roots) asked.push_back({each, &of.options, nullptr});
    Workers workers(of.program, threads);
    RootsInOrder in_order(of.program, of.setting, of.version, of.options, of.work, allowed);
    in_order.look_at(asked, workers,
                     {[&](std::uint32_t root, const KeptRoot& gave) {
                        taken.push_back(root);
                        found.push_back(gave.findings.size());
                        left_out += gave.is_left_out ? 1 : 0;
                      },
                      [&](const SeenByRoots& seen) { steps += seen.steps; }});
  }
  Ids taken;
  std::vector<std::size_t> found;
  std::size_t left_out = 0, steps = 0;
};

}  // namespace

TEST_CASE_METHOD(Analysed, "engine: a root's call is recorded with what the setting and the code say") {
  Engine engine(program, options, setting, version, work);
  engine.evaluate_root(id("widens"));
  const std::vector<SinkRecord> records = engine.records();
  REQUIRE(records.size() == 1);
  REQUIRE(records[0].operands.size() >= 2);
  CHECK(records[0].operands[0].alternatives.front().dtype == Dtype::kFloat32);
  CHECK(records[0].operands[1].alternatives.front().dtype == Dtype::kFloat16);
  CHECK(engine.ran() == std::set<std::uint32_t>{id("widens")});
  CHECK(engine.steps() > 0);
  engine.evaluate_root(id("caller"));
  REQUIRE(engine.records().size() == 1);
  CHECK(engine.records()[0].function == id("slopes"));
  CHECK(engine.ran().contains(id("slopes")));
}

TEST_CASE_METHOD(Analysed, "engine: a root over its budget leaves no record") {
  options.step_budget = 5;
  Engine engine(program, options, setting, version, work);
  CHECK_THROWS_AS(engine.evaluate_root(id("widens")), BudgetExceeded);
  CHECK(engine.records().empty());
  CHECK_NOTHROW(engine.evaluate_root(id("plain")));
}

TEST_CASE_METHOD(Analysed, "seen by roots: records outlive the engine, with their root") {
  SeenByRoots seen;
  {
    Engine engine(program, options, setting, version, work);
    engine.evaluate_root(id("plain"));
    seen.count(engine);
    seen.note(engine, id("plain"));
    CHECK(seen.steps == engine.steps());
  }
  REQUIRE(seen.records.size() == 1);
  CHECK(seen.records[0].root == id("plain"));
  CHECK(seen.records[0].instruction == &seen.calls.front());
  CHECK(seen.calls.front().range.line == 6);
}

TEST_CASE_METHOD(Analysed, "pass: a root's defect is collected, and one without is settled") {
  Pass pass(program, options, setting, version, work);
  FindingCollector collector(module, options);
  SeenByRoots seen;
  std::string problem;
  CHECK(pass.look_at(id("widens"), collector, seen, problem));
  CHECK(!pass.is_settled());
  const std::vector<Finding> found = collector.take();
  REQUIRE(found.size() == 1);
  CHECK(found[0].location.line == 3);
  CHECK(found[0].precision == std::vector<std::string>{"half"});
  CHECK(pass.look_at(id("plain"), collector, seen, problem));
  CHECK(pass.is_settled());
  CHECK(pass.ran() == std::set<std::uint32_t>{id("plain")});
  CHECK(collector.take().empty());
  CHECK(problem.empty());
}

TEST_CASE_METHOD(Analysed, "pass: a root over its budget has a problem and no finding") {
  options.step_budget = 5;
  Pass pass(program, options, setting, version, work);
  FindingCollector collector(module, options);
  SeenByRoots seen;
  std::string problem;
  CHECK(!pass.look_at(id("widens"), collector, seen, problem));
  CHECK(problem == "more than 5 instructions were evaluated");
  CHECK(!pass.is_settled());
  CHECK(collector.take().empty());
}

TEST_CASE("caller casts: a defect is settled where every caller widens what the call takes") {
  const auto settles = [](const std::string& text) {
    Analysed of(text);
    CallerCasts casts(of.program, of.options, of.setting, of.version, of.work);
    SinkRecord record;
    record.instruction = of.program.functions.info(of.id("slopes")).definition(3);
    Defect defect;
    defect.record = &record;
    DefectOptions how;
    how.device = of.options.device;
    how.torch_version = of.version;
    return casts.settle(of.id("slopes"), defect, how);
  };
  const std::string text = kProgram;
  CHECK(settles(text));
  const std::string another = "function other key other\n  parameter q: tensor\nb0:\n  %1 = param 0\n";
  CHECK(!settles(text + another + "  call slopes(%1, %1)\n  return\n"));
  CHECK(settles(text + another + "  return\n"));
  // What it made wide from the start was cast by none.
  CHECK(!settles(text + another +
                 "  %2 = const float32\n  %3 = const 8\n  %4 = pack(%3)\n"
                 "  %5 = op ones(size=%4, dtype=%2)\n  call slopes(%1, %5)\n  return\n"));
  CHECK(!settles(text.substr(0, text.find("function caller"))));
}

TEST_CASE("roots in order: what roots gave is taken in their order, whatever thread looked at them") {
  for (const unsigned threads : {1U, 3U}) {
    Analysed of;
    const Ids roots = {of.id("plain"), of.id("widens"), of.id("caller"), of.id("slopes")};
    const Order order(of, 1'000'000, threads, roots);
    CHECK(order.taken == roots);
    CHECK(order.found == std::vector<std::size_t>{0, 1, 0, 0});
    CHECK(order.left_out == 0);
    CHECK(order.steps > 0);
    CHECK(of.work.steps() >= order.steps);
  }
}

TEST_CASE("roots in order: what the work of all has no room for is left out") {
  Analysed of;
  const Order order(of, 0, 1, {of.id("plain"), of.id("widens")});
  CHECK(order.left_out == 2);
  CHECK(order.found == std::vector<std::size_t>{0, 0});
}

TEST_CASE("workers: each thread has a program of its own, and what one throws the caller gets") {
  const Module module = parse(kProgram);
  const Program own_program(module);
  Workers workers(own_program, 3);
  std::atomic<int> runs = 0, callers = 0, own = 0;
  workers.run([&](const Program& program, bool is_callers) {
    ++runs;
    callers += is_callers ? 1 : 0;
    own += (&program == &own_program) == is_callers && &program.functions.module() == &module ? 1 : 0;
  });
  CHECK((runs == 3 && callers == 1 && own == 3));
  CHECK_THROWS_AS(workers.run([](const Program&, bool is_callers) {
    if (!is_callers) throw std::runtime_error("a thread's");
  }),
                  std::runtime_error);
  runs = 0;
  workers.run([&](const Program&, bool) { ++runs; });
  CHECK(runs == 3);
  CHECK(workers.kept_groups() == nullptr);
}

TEST_CASE("work: a root may take its part, and what roots share is not of it") {
  Work work;
  work.allow(20);
  const auto take = [&](int steps) {
    for (int i = 0; i < steps; ++i) work.add_step(0);
  };
  work.allow_root(4);
  take(4);
  CHECK(!work.is_used_up_by_root());
  {
    const SharedWork shared(work);
    take(6);
    CHECK(!work.is_used_up_by_root());
  }
  CHECK(!work.is_used_up_by_root());
  take(1);
  CHECK(work.is_used_up_by_root());
  CHECK(!work.is_used_up());
  work.allow_root(9);
  {
    const SharedWork shared(work);
    work.add_step(100'000);  // a large state takes longer
    CHECK(work.is_used_up());
    CHECK(work.is_used_up_by_root());  // no more than all may take
  }
  CHECK(work.steps() > 20);
}

TEST_CASE("kept groups: what is kept holds from the next run on, until a function of it differs") {
  const auto found_in = [](KeptGroups groups, const std::string& text) {
    const Module module = parse(text);
    const Program program(module);
    groups.begin(program);
    return groups.find("key", program) != nullptr;
  };
  const Analysed of;
  KeptGroups groups;
  groups.begin(of.program);
  KeptGroup group;
  group.functions = {of.id("plain")};
  groups.keep("key", group);
  CHECK(!groups.find("key", of.program));
  groups.end();
  CHECK(groups.find("key", of.program));
  CHECK(found_in(groups, kProgram));
  std::string other = kProgram;
  CHECK(found_in(groups, other.replace(other.find("op ones"), 7, "op rand")));
  other = kProgram;
  CHECK(!found_in(groups, other.replace(other.find("6:3-6:9"), 7, "6:3-6:8")));
  KeptRoot with_finding;
  with_finding.findings.emplace_back();
  const Consulted nothing;
  CHECK(KeptGroups::can_be_kept({KeptRoot()}, nothing));
  CHECK(!KeptGroups::can_be_kept({with_finding}, nothing));
  Consulted::note_flow();
  CHECK(!KeptGroups::can_be_kept({KeptRoot()}, nothing));
}

}  // namespace dtype_guard::flow
