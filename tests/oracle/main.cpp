// oracle [--seed FIRST] [--programs COUNT] [--print] [--shrink]: generates programs from seeds, runs them,
// and holds what the analyser says of them against their runs. Exit status 1 where a property does not hold.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "analyzer/flow/text.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/properties.h"

namespace {
using namespace dtype_guard;
using namespace dtype_guard::oracle;

struct Command {
  std::uint64_t seed = 1, programs = 1000;
  bool print = false;
};

Command parse(int argc, char** argv) {
  Command out;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (!std::strcmp(argv[i], "--seed")) out.seed = number();
    if (!std::strcmp(argv[i], "--programs")) out.programs = number();
    if (!std::strcmp(argv[i], "--print")) out.print = true;
  }
  return out;
}

Violations check(std::uint64_t seed, Tally& tally, bool print) {
  const Recipe recipe = recipe_of(seed);
  const flow::Module program = generate(seed, recipe);
  const flow::Module probed = with_probes(program);
  if (print) std::printf("%s", flow::print(program).c_str());
  const auto& settings = flow::precision_settings();
  const flow::PrecisionSetting& setting = settings[seed / 3 % settings.size()];
  constexpr std::size_t kMostRuns = 128;
  const Subject subject = subject_of(probed, setting, seed % 2 != 0, kMostRuns);
  ++tally.programs;
  tally.runs += subject.runs.runs.size();
  tally.runs_left_out += subject.runs.open;
  tally.not_all_runs += !subject.runs.are_all;
  if (print) {
    for (const Run& run : subject.runs.runs)
      std::printf("// run ends %d %s\n", static_cast<int>(run.end), run.why.c_str());
  }
  Violations out;
  const bool straight = recipe.shape == Shape::kStraight;
  check_known(subject, straight, tally, out);
  check_definite(subject, straight, tally, out);
  return out;
}
}  // namespace

int main(int argc, char** argv) {
  const Command command = parse(argc, argv);
  Tally tally;
  std::size_t bad = 0;
  std::map<std::string, std::size_t> by_property;
  for (std::uint64_t seed = command.seed; seed < command.seed + command.programs; ++seed) {
    for (const Violation& each : check(seed, tally, command.print)) {
      ++bad;
      if (++by_property[each.property] <= 20)
        std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(seed), each.property.c_str(),
                    each.what.c_str());
    }
  }
  std::printf("%zu programs, %zu runs (%zu left out, %zu programs without all), %zu arrivals, %zu findings\n",
              tally.programs, tally.runs, tally.runs_left_out, tally.not_all_runs, tally.arrivals,
              tally.findings);
  for (const auto& [kind, share] : tally.known)
    std::printf("  known %-12s %zu of %zu\n", kind.c_str(), share.found, share.of);
  for (const auto& [kind, share] : tally.definite)
    std::printf("  found %-12s %zu of %zu\n", kind.c_str(), share.found, share.of);
  for (const auto& [property, count] : by_property)
    std::printf("%s does not hold %zu times\n", property.c_str(), count);
  return bad != 0;
}
