// Loads all rules (operators, contracts, catalog) and writes 25,000 findings in every format; prints time and
// memory beside their limits, and fails when one is exceeded. `--allow N` multiplies the limits of time.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <streambuf>
#include <string>

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

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

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

bool load(double allow) {
  const double before = megabytes();
  const auto start = std::chrono::steady_clock::now();
  const bool loaded = !all_operators().empty() &&
                      builtin_contracts().find("flash_ref_attention_fwd") != nullptr &&
                      find_rule("discarded-cast") != nullptr;
  const double took = milliseconds_since(start);
  if (!loaded) fmt::print("a table is empty\n");
  const bool in_time = row("load all rules", took, kLoadMilliseconds * allow, "ms");
  return row("memory of all rules", megabytes() - before, kLoadMegabytes, "MB") && in_time && loaded;
}

bool write(const OutputFormat& format, const Report& report, double allow) {
  CountingBuffer buffer;
  std::ostream out(&buffer);
  const auto start = std::chrono::steady_clock::now();
  format.write(out, report, {});
  return row(fmt::format("write {}", format.name), milliseconds_since(start), kWriteMilliseconds * allow,
             "ms", fmt::format("{:.1f} MB", static_cast<double>(buffer.bytes) / 1e6));
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
