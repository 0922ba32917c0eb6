// Loads all rules (operators, contracts, catalog) and writes 25,000 findings in every format; prints time and
// memory beside their limits, and fails when one is exceeded. `--allow N` multiplies the limits of time.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <streambuf>
#include <string>
#include <vector>

#include "rules/catalog/catalog.h"
#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"
#include "rules/report/format.h"
#include "sample_report.h"

using namespace dtype_guard;

namespace {

constexpr std::size_t kFindings = 25000;
constexpr double kLoadMilliseconds = 5;
constexpr double kLoadMegabytes = 10;
constexpr double kWriteMilliseconds = 1000;

// What this process took of the processor: what else the machine does is not the rules' doing.
double processor_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Resident now, of this process.
double megabytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  status >> total >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

class CountingBuffer : public std::streambuf {
 public:
  std::size_t bytes = 0;

 protected:
  int_type overflow(int_type c) override {
    ++bytes;
    return c == traits_type::eof() ? 0 : c;
  }
  std::streamsize xsputn(const char* /*text*/, std::streamsize count) override {
    bytes += static_cast<std::size_t>(count);
    return count;
  }
};

bool row(const std::string& what, double value, double limit, const char* unit,
         const std::string& more = "") {
  const bool good = value <= limit;
  fmt::print("{:<24} {:>9.2f} {:<3} limit {:>7.0f} {:<3} {:<8} {}\n", what, value, unit, limit, unit,
             good ? "" : "TOO MUCH", more);
  return good;
}

struct Load {
  double milliseconds = -1;
  double memory = 0;
};

Load load_once() {
  const double before = megabytes(), start = processor_milliseconds();
  const bool loaded = !all_operators().empty() &&
                      builtin_contracts().find("flash_ref_attention_fwd") != nullptr &&
                      find_rule("discarded-cast") != nullptr &&
                      autocast_policy("linear", "cuda", "2.13") == AutocastPolicy::kLowerPrecision;
  const double took = processor_milliseconds() - start;
  if (!loaded) fmt::print("a table is empty\n");
  return {loaded ? took : -1, megabytes() - before};
}

// Tables are loaded once in a process, so each measurement has a process of its own.
Load load_in_child() {
  int ends[2];
  Load result;
  if (pipe(ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    result = load_once();
    _exit(::write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || ::read(ends[0], &result, sizeof(result)) != sizeof(result)) result.milliseconds = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

bool load(double allow) {
  constexpr std::size_t kRuns = 31;
  std::vector<Load> runs;
  for (std::size_t i = 0; i < kRuns; ++i) runs.push_back(load_in_child());
  std::sort(runs.begin(), runs.end(),
            [](const Load& a, const Load& b) { return a.milliseconds < b.milliseconds; });
  if (runs.front().milliseconds < 0) return false;
  const Load& median = runs[kRuns / 2];
  const bool in_time = row("load all rules", median.milliseconds, kLoadMilliseconds * allow, "ms",
                           fmt::format("median of {} processes, processor time; {:.2f} to {:.2f}", kRuns,
                                       runs.front().milliseconds, runs.back().milliseconds));
  return row("memory of all rules", median.memory, kLoadMegabytes, "MB") && in_time;
}

bool write(const OutputFormat& format, const Report& report, double allow) {
  CountingBuffer buffer;
  std::ostream out(&buffer);
  const double start = processor_milliseconds();
  format.write(out, report, {});
  return row(fmt::format("write {}", format.name), processor_milliseconds() - start,
             kWriteMilliseconds * allow, "ms",
             fmt::format("{:.1f} MB", static_cast<double>(buffer.bytes) / 1e6));
}

}  // namespace

int main(int argc, char** argv) {
  double allow = 1;
  std::string sources;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--allow") allow = std::strtod(argv[i + 1], nullptr);
    if (std::string(argv[i]) == "--sources") sources = argv[i + 1];
  }
  bool good = load(allow);
  fmt::print("{} findings\n", kFindings);
  Report report = test::large_report(kFindings);
  report.root = sources;
  for (Finding& finding : report.findings) {
    // Real sources, so that formats that show lines have some to show.
    if (!sources.empty()) finding.location.file = "model.cpp";
    finding.location.line = 1 + finding.location.line % 8;
  }
  for (const OutputFormat& format : output_formats()) good = write(format, report, allow) && good;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
