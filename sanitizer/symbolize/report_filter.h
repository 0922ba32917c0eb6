// What the options `rules`, `suppressions` and `expect` do to a report.
//
// A suppressions file has lines `RULE:PATTERN`, as those of the compilers' sanitizers: PATTERN, with * for
// any characters, is compared with the function, file and module of every frame of the call and of the
// origins, and with the API. RULE may hold * too. What follows # is the reason.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "rules/report/report.h"
#include "sanitizer/sources/cupti/names/kernel_name.h"

namespace dtype_guard::san {

// What an option lists, separated by commas.
std::vector<std::string> listed_words(const std::string& list);

// "FILE:LINE: found, expected".
class FilterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ReportFilter {
 public:
  ReportFilter() = default;
  // Throws FilterError: an unknown rule, an unreadable file or line.
  ReportFilter(const std::string& rules, const std::string& suppressions_file, const std::string& expect);

  void apply(Report& report) const;

  // The attention backend among the words of `expect`; the others are APIs.
  std::optional<cupti::Backend> expected_backend() const { return expected_backend_; }

 private:
  struct Line {
    std::string rule, pattern, reason;
    int number;
  };
  void read_suppressions(const std::string& file);
  bool is_wanted(const std::string& rule) const;
  const Line* covering(const Finding& finding) const;

  std::vector<std::string> kept_, removed_;
  std::vector<Line> lines_;
  std::vector<std::string> expected_;
  std::optional<cupti::Backend> expected_backend_;
};

}  // namespace dtype_guard::san
