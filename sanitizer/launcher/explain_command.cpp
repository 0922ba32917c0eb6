#include <fmt/format.h>

#include "rules/catalog/catalog.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/output.h"

namespace dtype_guard::san {

int explain_command(const std::string& rule) {
  if (const Rule* found = find_rule(rule)) {
    fmt::print("{}", found->text);
    return 0;
  }
  std::string message = fmt::format("unknown rule '{}'", rule);
  if (std::string near = nearest_rule(rule); !near.empty())
    message += fmt::format(", did you mean '{}'?", near);
  message += "\nknown rules:";
  for (const Rule& known : catalog()) message += fmt::format("\n  {}  {}", known.id, known.summary);
  throw UsageError{message};
}

}  // namespace dtype_guard::san
