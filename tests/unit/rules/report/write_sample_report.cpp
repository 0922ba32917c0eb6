// Prints a report of the tests: `write_sample_report KIND FORMAT [ROOT]`. KIND is static, runtime, baseline,
// bad-utf8, or a number of findings; source lines are read below ROOT. This is how tests/golden/report is
// renewed, and where the Python tests get their reports.
#include <cctype>
#include <cstdlib>
#include <iostream>

#include "rules/report/format.h"
#include "sample_report.h"

using namespace dtype_guard;

namespace {

Report report_of(const std::string& kind) {
  if (kind == "runtime") return test::runtime_report();
  if (kind == "baseline") return test::baseline_report();
  if (kind == "bad-utf8") return test::bad_utf8_report();
  if (std::isdigit(static_cast<unsigned char>(kind[0])) != 0) return test::large_report(std::stoul(kind));
  return test::static_report();
}

}  // namespace

int main(int argc, char** argv) {
  const OutputFormat* format = argc > 2 ? find_format(argv[2]) : nullptr;
  if (format == nullptr) {
    std::cerr << "usage: write_sample_report KIND FORMAT [ROOT]; formats: " << format_names() << '\n';
    return EXIT_FAILURE;
  }
  Report report = report_of(argv[1]);
  if (argc > 3) report.root = argv[3];
  format->write(std::cout, report, {});
}
