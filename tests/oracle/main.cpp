// oracle [--seed FIRST] [--programs COUNT] [--record FILE [--write FILE]] [--print] [--shrink] [--stop]
// [--open]: generates programs from seeds, runs them, and holds what the analyser says of them against their
// runs, and against what is recorded. With --open any number of things is open in each program. Exit status 1
// where a property does not hold; with --stop it ends there. --write writes the record anew.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "analyzer/flow/ir/text.h"
#include "tests/oracle/classes.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/lambdas.h"
#include "tests/oracle/properties.h"
#include "tests/oracle/record.h"
#include "tests/oracle/shrink.h"
#include "tests/oracle/stated.h"
#include "tests/oracle/tiers.h"

namespace {
using namespace dtype_guard;
using namespace dtype_guard::oracle;

constexpr std::size_t kMostRuns = 48;

struct Command {
  std::uint64_t seed = 1, programs = 1000;
  const char* file = nullptr;
  const char *record = nullptr, *write = nullptr;
  bool print = false, shrink = false, stop = false, open = false;
};

Command parse(int argc, char** argv) {
  Command out;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (!std::strcmp(argv[i], "--seed")) out.seed = number();
    if (!std::strcmp(argv[i], "--programs")) out.programs = number();
    if (!std::strcmp(argv[i], "--shrink")) out.shrink = true;
    if (!std::strcmp(argv[i], "--file")) out.file = i + 1 < argc ? argv[++i] : nullptr;
    if (!std::strcmp(argv[i], "--record")) out.record = i + 1 < argc ? argv[++i] : nullptr;
    if (!std::strcmp(argv[i], "--write")) out.write = i + 1 < argc ? argv[++i] : nullptr;
    if (!std::strcmp(argv[i], "--print")) out.print = true;
    if (!std::strcmp(argv[i], "--stop")) out.stop = true;
    if (!std::strcmp(argv[i], "--open")) out.open = true;
  }
  return out;
}

flow::Module read(const char* file) {
  std::ifstream in(file);
  return flow::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

// What a seed decides beside the program, each thing for itself: residues of the seed, which decide what kind
// of program it is, would ask some properties of one kind alone.
struct Case {
  std::uint64_t seed = 0;
  bool straight = false, named = false;
  bool open = false;  // any number of things is (tier B)
  const flow::PrecisionSetting* setting = nullptr;

  std::size_t draw(const char* what, std::size_t options) const {
    std::uint64_t salt = 0;
    for (const char* each = what; *each; ++each) salt = salt * 131 + static_cast<unsigned char>(*each);
    return std::mt19937_64(seed ^ salt << 20U)() % options;
  }
  bool is_drawn(const char* what, std::size_t one_in) const { return draw(what, one_in) == 0; }
};
Case case_of(std::uint64_t seed) {
  Case out = {seed};
  const auto& settings = flow::precision_settings();
  out.straight = recipe_of(seed).shape == Shape::kStraight;
  out.named = out.is_drawn("named", 2);
  constexpr std::size_t kOneInOpen = 8;
  out.open = out.is_drawn("open", kOneInOpen);
  out.setting = &settings[out.draw("setting", settings.size())];
  return out;
}

Recipe recipe_of(const Case& how) {
  Recipe out = oracle::recipe_of(how.seed);
  if (how.open) out.most_atoms = kAnyNumberOfAtoms;
  return out;
}

// Findings of a promotion are of half inputs, and fixes of them.
const flow::PrecisionSetting* half_setting(std::uint64_t seed) {
  std::vector<const flow::PrecisionSetting*> all;
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    if (is_half(each.inputs)) all.push_back(&each);
  }
  return all[seed / 20 % all.size()];
}
flow::Module fixable(std::uint64_t seed) {
  return mended(generate(seed, fixable_recipe(seed)), world_of(*half_setting(seed)));
}

// The program and, as comments, what the engine finds in it.
void print(const flow::Module& program, const Case& how) {
  std::printf("%s", flow::print(program).c_str());
  const Subject subject = subject_of(program, *how.setting, how.named, kMostRuns);
  for (const Finding& each : flow::analyse(program, subject.options).findings) {
    std::printf("// %d: %s: %s (%s)\n", each.location.line, each.rule.c_str(), each.message.c_str(),
                each.certainty == Certainty::kDefinite ? "definite" : "possible");
  }
}

Violations check(const flow::Module& program, const Case& how, Tally& tally) {
  const flow::Module probed = with_probes(program);
  const Subject subject = subject_of(probed, *how.setting, how.named, kMostRuns);
  ++tally.programs;
  tally.runs += subject.runs.runs.size();
  tally.runs_left_out += subject.runs.open;
  count_instructions(program, subject.runs.passed, tally.instructions);
  for (const auto& [assumption, runs] : subject.runs.assumptions) tally.assumptions[assumption] += runs;
  tally.not_all_runs += !subject.runs.are_all;
  Violations out;
  const bool precise = how.straight && how.named;
  tally.asked["precision"] += precise;
  check_known(subject, precise, tally, out);
  check_definite(subject, precise, tally, out);
  constexpr std::size_t kOneInStrict = 8, kOneInLaws = 2;
  if (how.is_drawn("strict", kOneInStrict)) ++tally.asked["strict"], check_possible(subject, out);
  if (how.is_drawn("laws", kOneInLaws))
    check_law(how.draw("law", kLaws), how.seed, program, subject, tally, out);
  return out;
}

void check_tier(const flow::Module& program, bool open, Tally& tally, Violations& out) {
  ++tally.asked[open ? "tier B: open" : "tier A"];
  const std::size_t atoms = open_atoms(program);
  if (!open && atoms > kMostAtoms)
    out.push_back({"tier", std::to_string(atoms) + " things are open, in tier A at most " +
                               std::to_string(kMostAtoms) + " are"});
}

// Programs that are made for one assumption. Counted apart: shares are of the other programs.
void check_apart(const Subject& subject, std::size_t& findings, Tally& tally, Violations& out) {
  Tally own;
  check_definite(subject, false, own, out);
  findings += own.findings;
  for (const auto& [assumption, runs] : subject.runs.assumptions) tally.assumptions[assumption] += runs;
}

// Every value that is used is defined.
bool is_sound(const flow::Module& program) {
  try {
    flow::parse(flow::print(program));
    return true;
  } catch (const flow::TextError&) {
    return false;
  }
}

// The smallest program that breaks the first property that this one breaks, in the same words.
void print_smaller(const flow::Module& program, const Case& how) {
  Tally ignored;
  const Violations all = check(program, how, ignored);
  if (all.empty()) return;
  const flow::Module small = shrink(program, [&](const flow::Module& smaller) {
    if (!is_sound(smaller)) return false;
    const Violations left = check(smaller, how, ignored);
    return std::any_of(left.begin(), left.end(), [&](const Violation& each) {
      constexpr std::size_t kWords = 100;
      return each.property == all[0].property && each.what.substr(0, kWords) == all[0].what.substr(0, kWords);
    });
  });
  std::printf("%s\n", flow::print(small).c_str());
  for (const Violation& each : check(small, how, ignored))
    std::printf("// %s: %s\n", each.property.c_str(), each.what.c_str());
}

void add_apart(const Tally& apart, Tally& tally) {
  for (const auto& [assumption, runs] : apart.assumptions) tally.assumptions[assumption] += runs;
  for (const auto& [kind, count] : apart.instructions) tally.instructions[kind] += count;
}

// Of modules that are made of others, under a setting that the user named or did not.
void check_composed(std::uint64_t seed, const Command& command, Tally& tally, Violations& out) {
  constexpr std::size_t kOneInOrdered = 4;
  Case how = case_of(seed);
  how.straight = false;  // what a constructor is handed is open
  const flow::Module own = mended(generate(seed, composed_recipe(seed)), world_of(*how.setting));
  if (command.print) std::printf("// looked at for constructors:\n%s", flow::print(own).c_str());
  if (command.shrink) print_smaller(own, how);
  ++tally.asked["composed"];
  Tally apart;
  const Violations wrong = check(own, how, apart);
  out.insert(out.end(), wrong.begin(), wrong.end());
  if (how.is_drawn("order of composed", kOneInOrdered)) check_order(seed, &own, tally, out);
  tally.of_constructors += apart.findings;
  add_apart(apart, tally);
}

// Over the rarer instructions, of which shares are recorded apart.
void check_rare(std::uint64_t seed, const Command& command, Tally& tally, Violations& out) {
  const Case how = case_of(seed);
  const flow::Module made = generate(seed, rare_recipe(seed));
  const flow::Module own = mended(made, world_of(*how.setting));
  if (command.print) std::printf("// looked at for rarer instructions:\n%s", flow::print(own).c_str());
  if (command.shrink) print_smaller(own, how);
  ++tally.asked["rare"];
  check_tier(made, false, tally, out);
  Tally apart;
  const Violations wrong = check(own, how, apart);
  out.insert(out.end(), wrong.begin(), wrong.end());
  tally.of_rare += apart.findings;
  add_apart(apart, tally);
  const auto add = [](const std::map<std::string, Share>& more, std::map<std::string, Share>& all) {
    for (const auto& [kind, share] : more) {
      Share& sum = all["rare " + kind];
      sum.of += share.of;
      sum.found += share.found;
    }
  };
  add(apart.known, tally.known);
  add(apart.definite, tally.definite);
  add(apart.sometimes, tally.sometimes);
}

// Programs that are made for one property or assumption.
void check_special(const flow::Module& program, const Case& how, const Command& command, Tally& tally,
                   Violations& found) {
  constexpr std::size_t kOneInFixes = 20;
  if (how.is_drawn("fixes", kOneInFixes)) {
    const flow::Module own = command.file ? program : fixable(how.seed);
    if (command.print) std::printf("// looked at for fixes:\n%s", flow::print(own).c_str());
    ++tally.asked["fixes"];
    check_fixes(own, *half_setting(how.seed), kMostRuns, tally, found);
  }
  if (command.file) return;
  const auto apart = [&](const char* what, const flow::Module& own, std::size_t& findings, std::size_t runs,
                         bool inputs_differ) {
    if (command.print) std::printf("// looked at for %s:\n%s", what, flow::print(own).c_str());
    ++tally.asked[what];
    check_apart(subject_of(own, *how.setting, true, runs, inputs_differ), findings, tally, found);
  };
  constexpr std::size_t kOneInSetters = 16, kOneInLambdas = 16, kOneInChecks = 32, kOneInComposed = 32,
                        kOneInRare = 16;
  if (how.is_drawn("setters", kOneInSetters))
    apart("setters", class_with_setters(how.seed), tally.of_setters, kMostRuns, false);
  if (how.is_drawn("lambdas", kOneInLambdas))
    apart("lambdas", with_escaping_lambda(how.seed), tally.of_lambdas, kMostRuns, false);
  if (how.is_drawn("checks", kOneInChecks)) {
    constexpr std::size_t kRunsWithDtypes = 54;  // of three inputs each dtype beside each other
    apart("checks", with_stated_inputs(how.seed), tally.of_checks, kRunsWithDtypes, true);
  }
  if (how.is_drawn("composed", kOneInComposed)) check_composed(how.seed, command, tally, found);
  if (how.is_drawn("rare", kOneInRare)) check_rare(how.seed, command, tally, found);
  constexpr std::size_t kOneInClasses = 8, kOneInPrograms = 32;
  if (how.is_drawn("classes", kOneInClasses)) check_order(how.seed, nullptr, tally, found);
  if (how.is_drawn("order", kOneInPrograms)) check_order(how.seed, &program, tally, found);
}

void print(const Tally& tally) {
  std::printf(
      "%zu programs, %zu runs (%zu left out, %zu programs without all), %zu arrivals, %zu findings (%zu at "
      "calls or ways that no run takes, %zu of setters, %zu of lambdas, %zu of checks, %zu of "
      "constructors, %zu of rarer instructions), %zu given up, %zu reports in "
      "another order, %zu "
      "fixes\n",
      tally.programs, tally.runs, tally.runs_left_out, tally.not_all_runs, tally.arrivals, tally.findings,
      tally.unreached, tally.of_setters, tally.of_lambdas, tally.of_checks, tally.of_constructors,
      tally.of_rare, tally.given_up, tally.ordered, tally.fixes);
  for (const auto& [assumption, runs] : tally.assumptions)
    std::printf("  left out %zu runs: %s\n", runs, assumption.c_str());
  std::printf("  left out %zu findings: a check states other inputs\n", tally.contradicted);
  std::printf("  left out %zu findings: runs that come there were left out\n", tally.unspoken);
  for (const auto& [kind, count] : tally.instructions)
    std::printf("  ran through %zu: %s\n", count, kind.c_str());
  for (const auto& [what, programs] : tally.asked)
    std::printf("  asked of %zu programs: %s\n", programs, what.c_str());
  for (const auto& [kind, share] : tally.known)
    std::printf("  known %-12s %zu of %zu\n", kind.c_str(), share.found, share.of);
  for (const auto& [kind, share] : tally.definite)
    std::printf("  found %-12s %zu of %zu\n", kind.c_str(), share.found, share.of);
  for (const auto& [kind, share] : tally.sometimes)
    std::printf("  found %-12s %zu of %zu that break sometimes\n", kind.c_str(), share.found, share.of);
}

Violations look_at(std::uint64_t seed, const Command& command, Tally& tally) {
  Case how = case_of(seed);
  how.open = how.open || command.open;
  const flow::Module made = command.file ? read(command.file) : generate(seed, recipe_of(how));
  const flow::Module program = command.file ? made : mended(made, world_of(*how.setting));
  if (command.print) print(program, how);
  if (command.shrink) print_smaller(program, how);
  Violations found = check(program, how, tally);
  if (!command.file) check_tier(made, how.open, tally, found);
  if (!command.file) check_joins(seed, found);
  check_special(program, how, command, tally, found);
  return found;
}
}  // namespace

int main(int argc, char** argv) {
  const Command command = parse(argc, argv);
  Tally tally;
  std::size_t bad = 0;
  std::map<std::string, std::size_t> by_property;
  std::optional<Record> record;
  if (command.record) record.emplace(command.record);
  for (std::uint64_t seed = command.seed; seed < command.seed + command.programs; ++seed) {
    for (const Violation& each : look_at(seed, command, tally)) {
      if (record && record->is_known(seed, each.property)) continue;
      ++bad;
      if (++by_property[each.property] <= 20)
        std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(seed), each.property.c_str(),
                    each.what.c_str());
    }
    if (command.stop && bad) return 1;
  }
  print(tally);
  for (const auto& [property, count] : by_property)
    std::printf("%s does not hold %zu times\n", property.c_str(), count);
  if (!record) return bad != 0;
  for (const auto& [seed, open] : record->beyond(command.seed, command.programs)) {
    Tally apart;
    Command own = command;
    own.open = open;
    for (const Violation& each : look_at(seed, own, apart)) record->is_known(seed, each.property);
  }
  if (command.write) record->write(command.write, tally, command.programs);
  std::printf("%zu failures are recorded, %.0f s of processor time\n", record->count(),
              static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  const std::vector<std::string> fallen = record->compare(tally, command.seed, command.programs);
  for (const std::string& each : fallen) std::printf("%s\n", each.c_str());
  return bad != 0 || !fallen.empty();
}
