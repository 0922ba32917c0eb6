#include <set>
#include <variant>

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

namespace {
bool is_off(const Function& function, const Instruction& autocast) {
  for (const flow::Argument& given : autocast.args) {
    if (given.name != "on") continue;
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const auto* on = std::get_if<bool>(&each.constant);
        if (each.result == given.value && on && each.op == flow::Op::kConst) return !*on;
      }
    }
  }
  return false;
}

// Code that turns autocast on for the CPU, and for nothing else, runs there.
std::string device_of(const Module& module, const Function& root) {
  std::set<std::string> on;
  std::set<const Function*> seen = {&root};
  std::vector<const Function*> left = {&root};
  while (!left.empty()) {
    const Function& function = *left.back();
    left.pop_back();
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == flow::Op::kSetAutocast && !is_off(function, each)) on.insert(each.name);
        if (each.op != flow::Op::kCall && each.op != flow::Op::kClosure) continue;
        for (const Function& other : module.functions) {
          if (other.key == each.name && seen.insert(&other).second) left.push_back(&other);
        }
      }
    }
  }
  return on == std::set<std::string>{"cpu"} ? "cpu" : "cuda";
}
}  // namespace

Subject subject_of(const Module& module, const flow::PrecisionSetting& setting, bool named,
                   std::size_t most_runs, bool inputs_differ) {
  Subject out{module, module.functions.back(), setting, world_of(setting), {}, {}};
  out.world.device = device_of(module, out.root);
  out.world.is_named = named;
  out.world.inputs_differ = inputs_differ;
  out.runs = all_runs(module, out.root, contracts(), out.world, most_runs);
  out.options.settings = {setting};
  out.options.settings_named_by_user = named;
  out.options.contracts = &contracts();
  return out;
}

}  // namespace dtype_guard::oracle
