#include "tests/oracle/properties.h"

namespace dtype_guard::oracle {
namespace {
std::string all_dtypes_as_json() {
  std::string out;
  for (const Dtype each : all_dtypes()) out += (out.empty() ? "\"" : ", \"") + std::string(name(each)) + "\"";
  return out;
}
}  // namespace

const ContractSet& contracts() {
  static const ContractSet set = parse_contracts(R"({
  "schema": "dtype-guard/contracts/1",
  "library": "oracle",
  "apis": [
    {"name": "probe", "kind": "attention", "spellings": ["probe"], "source": "here",
     "operands": [{"role": "q", "argument": 0, "accepts": [)" +
                                                     all_dtypes_as_json() + R"(]}]},
    {"name": "flash", "kind": "attention", "spellings": ["flash"], "source": "here", "result_like": "q",
     "operands": [
       {"role": "q", "argument": 0, "accepts": ["float16", "bfloat16"]},
       {"role": "k", "argument": 1, "same_as": "q"},
       {"role": "v", "argument": 2, "same_as": "q"}]},
    {"name": "sdpa", "kind": "attention", "spellings": ["sdpa"], "source": "here", "result_like": "q",
     "autocast": {"cuda": "recasts", "cpu": "recasts"}, "fast": {"cuda": ["float16", "bfloat16"]},
     "operands": [
       {"role": "q", "argument": 0, "accepts": ["float16", "bfloat16", "float32"]},
       {"role": "k", "argument": 1, "same_as": "q"},
       {"role": "v", "argument": 2, "same_as": "q"}]},
    {"name": "rotary", "kind": "rotary", "spellings": ["rotary"], "source": "here",
     "operands": [
       {"role": "x", "argument": 0, "accepts": ["float16", "bfloat16", "float32"]},
       {"role": "cos", "argument": 1, "same_as": "x"},
       {"role": "sin", "argument": 2, "same_as": "x"}]}
  ]})",
                                                 "oracle.json");
  return set;
}

World world_of(const flow::PrecisionSetting& setting) {
  World out;
  out.name = setting.name;
  out.inputs = setting.inputs;
  out.parameters = setting.parameters;
  out.buffers = setting.buffers;
  out.autocast = setting.autocast;
  return out;
}

Subject subject_of(const Module& module, const flow::PrecisionSetting& setting, bool named,
                   std::size_t most_runs) {
  Subject out{module, module.functions.back(), setting, world_of(setting), {}, {}};
  out.runs = all_runs(module, out.root, contracts(), out.world, most_runs);
  out.options.settings = {setting};
  out.options.settings_named_by_user = named;
  out.options.contracts = &contracts();
  return out;
}

}  // namespace dtype_guard::oracle
