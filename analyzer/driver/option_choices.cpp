#include "analyzer/driver/option_choices.h"

#include "analyzer/flow/settings/precision_setting.h"
#include "rules/catalog/catalog.h"
#include "rules/command_line/generated_text.h"
#include "rules/contracts/contract.h"
#include "rules/operators/devices.h"
#include "rules/operators/operators.h"
#include "rules/operators/version.h"
#include "rules/report/format.h"

namespace dtype_guard::driver {

namespace {

Choices all_choices() {
  Choices out = {{"--device", {kDevices.begin(), kDevices.end()}},
                 {"--fail-on", {"error", "warning", "never"}},
                 {"--color", {"auto", "always", "never"}},
                 {"--format", names_of_formats()},
                 {"--generate", generated_kinds()},
                 {"--torch", std::vector<std::string>(kTorchReleases.begin(), kTorchReleases.end())}};
  for (const flow::PrecisionSetting& each : flow::precision_settings())
    out["--precision"].push_back(each.name);
  for (const Rule& each : catalog()) out["--rules"].push_back(each.id);
  out["--explain"] = out["--rules"];
  for (const Api& each : builtin_contracts().apis) out["--explain"].push_back(each.name);
  for (const Operator& each : all_operators()) out["--explain"].push_back(each.name);
  return out;
}

}  // namespace

const Choices& option_choices() {
  static const Choices choices = all_choices();
  return choices;
}

}  // namespace dtype_guard::driver
