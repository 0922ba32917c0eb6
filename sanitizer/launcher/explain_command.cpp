#include <fmt/format.h>

#include "rules/catalog/catalog.h"
#include "rules/contracts/contract.h"
#include "rules/contracts/listing.h"
#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/sources/cupti/names/kernel_name.h"

namespace dtype_guard::san {

namespace {

// A CUDA kernel's name, as a profiler prints it, in place of a rule: what it is and which dtypes it proves.
bool explain_kernel(const std::string& name) {
  const cupti::KernelName kernel = cupti::read_kernel_name(name);
  if (kernel.kind == cupti::KernelKind::kUnknown) return false;
  fmt::print("kind:     {}\n", cupti::spelling(kernel.kind));
  if (kernel.backend != cupti::Backend::kNoBackend)
    fmt::print("backend:  {}\n", cupti::spelling(kernel.backend));
  if (!kernel.library.empty()) fmt::print("library:  {}\n", kernel.library);
  if (!kernel.api.empty()) fmt::print("call:     {}\n", kernel.api);
  if (kernel.confidence == cupti::Confidence::kNone) {
    fmt::print("dtypes:   the name does not say\n");
    return true;
  }
  fmt::print("dtypes:  ");
  for (std::size_t i = 0; i < kernel.role_count; ++i) {
    const cupti::RoleDtype& role = kernel.roles[i];
    fmt::print(" {} {}", role.role, role.dtype == 0 ? "unknown" : dtype_name(role.dtype));
    fmt::print("{}", i + 1 < kernel.role_count ? "," : "\n");
  }
  fmt::print("proof:    {}\n", cupti::spelling(kernel.confidence));
  return true;
}

}  // namespace

int explain_command(const std::string& rule) {
  if (const Rule* found = find_rule(rule)) {
    fmt::print("{}", found->text);
    return 0;
  }
  if (const std::string contract = explain_contract(builtin_contracts(), rule); !contract.empty()) {
    fmt::print("{}", contract);
    return 0;
  }
  if (explain_kernel(rule)) return 0;
  std::string message = fmt::format("unknown rule '{}'", rule);
  if (std::string near = nearest_rule(rule); !near.empty())
    message += fmt::format(", did you mean '{}'?", near);
  message += "\nknown rules:";
  for (const Rule& known : catalog()) message += fmt::format("\n  {}  {}", known.id, known.summary);
  throw UsageError{message};
}

}  // namespace dtype_guard::san
