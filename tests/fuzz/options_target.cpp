#include <cstdio>
#include <cstdlib>
#include <string>

#include "sanitizer/settings/options.h"
#include "tests/fuzz/targets.h"

namespace dtype_guard::san {
namespace {

struct Parsed {
  Options options;
  std::string complaints;
};

Parsed parse(std::string_view text) {
  Parsed parsed;
  parse_options(
      text, parsed.options,
      [](void* context, std::string_view message) {
        static_cast<std::string*>(context)->append(message) += '\n';
      },
      &parsed.complaints);
  return parsed;
}

}  // namespace

void fuzz_options(std::string_view input) {
  const Parsed first = parse(input), second = parse(input);
  bool same = first.complaints == second.complaints &&
              first.options.max_findings == second.options.max_findings &&
              first.options.journal.view() == second.options.journal.view();
  // A number is within its bounds whatever was written.
  bool bounded = first.options.max_findings >= 1 && first.options.max_findings <= 3000 &&
                 first.options.stack_depth >= 1 && first.options.stack_depth <= 128;
  if (!same || !bounded) {
    std::fprintf(stderr,
                 "does not hold: the same text gives the same options, numbers within their bounds\n");
    std::abort();
  }
  char buffer[300];
  TextSink path(buffer, sizeof buffer);
  expand_path(input, 4711, "node", "3", path);
}

}  // namespace dtype_guard::san
