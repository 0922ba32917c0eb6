// Prints a sample report: `write_sample_report static|runtime` as JSON, for schema_check.py; with a folder as
// second argument as text with the source lines from there, which is how tests/golden/report/*.txt are
// renewed.
#include <iostream>

#include "sample_report.h"

int main(int argc, char** argv) {
  const bool runtime = argc > 1 && std::string(argv[1]) == "runtime";
  auto report = runtime ? dtype_guard::test::runtime_report() : dtype_guard::test::static_report();
  if (argc > 2) {
    report.root = argv[2];
    dtype_guard::write_text(std::cout, report, {});
  } else {
    dtype_guard::write_json(std::cout, report);
  }
}
