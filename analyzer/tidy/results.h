// What dtype-lint says of the file that clang-tidy is at: evaluated once, whichever of the checks asks first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/driver/options.h"
#include "rules/finding/finding.h"

namespace clang {
class ASTContext;
class Preprocessor;
}  // namespace clang

namespace dtype_guard::tidy {

// As .clang-tidy has them.
struct Settings {
  std::string precision, torch, device, contracts, root, strict;
  friend auto operator<=>(const Settings&, const Settings&) = default;
};

struct Results {
  std::string root;               // that file names are relative to
  std::vector<Finding> findings;  // with fixes
  std::string problem;            // with the settings; then there are no findings
};

// Of the file that is being looked at; forget_results() when it is another one.
const Results& results_of(clang::ASTContext& context, clang::Preprocessor& preprocessor,
                          const Settings& settings);
void forget_results();

}  // namespace dtype_guard::tidy
