// Laws: changes of a program that may not change its findings, or only in one direction.
#include <algorithm>
#include <set>

#include "tests/oracle/properties.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using Calls = std::set<int>;  // lines of the calls that a definite finding reaches

Calls broken_calls(const Module& module, const flow::AnalysisOptions& options) {
  Calls out;
  for (const Finding& each : flow::analyse(module, options).findings) {
    if (each.certainty != Certainty::kDefinite) continue;
    for (const Sink& sink : each.sinks) out.insert(sink.location.line);
  }
  return out;
}

std::string text(const Calls& calls) {
  std::string out;
  for (const int line : calls) out += " " + std::to_string(line);
  return out.empty() ? " none" : out;
}

// The result of one operator is anything.
Module with_unknown(Module module, Random& random) {
  std::vector<Instruction*> all;
  for (flow::Block& block : module.functions.back().blocks) {
    for (Instruction& each : block.instructions) {
      if (each.op == Op::kOperator && each.result) all.push_back(&each);
    }
  }
  if (all.empty()) return module;
  Instruction& chosen = *random.of(all);
  chosen.op = Op::kConst;
  chosen.name.clear();
  chosen.args.clear();
  chosen.constant = flow::Unknown{};
  return module;
}

// Values that nothing uses, and a block that nothing leads to.
Module with_dead_code(Module module, Random& random) {
  for (Function& function : module.functions) {
    flow::ValueId last = 0;
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) last = std::max(last, each.result);
    }
    flow::Block& block = function.blocks[random.below(function.blocks.size())];
    Instruction unused;
    unused.op = Op::kConst;
    unused.constant = std::int64_t{7};
    unused.result = last + 1;
    unused.range = function.range;
    block.instructions.insert(block.instructions.begin(), unused);
    Instruction end;
    end.op = Op::kReturn;
    end.range = function.range;
    unused.result = last + 2;
    function.blocks.push_back({{unused, end}});
  }
  return module;
}

// Other names for variables and functions.
Module renamed(Module module) {
  std::set<std::string> keys;
  for (Function& function : module.functions) {
    keys.insert(function.key);
    function.key += "_renamed";
    for (std::string& each : function.variables) each += "_renamed";
  }
  for (Function& function : module.functions) {
    for (flow::Block& block : function.blocks) {
      for (Instruction& each : block.instructions) {
        const bool calls = each.op == Op::kCall || each.op == Op::kClosure;
        if (calls && keys.contains(each.name)) each.name += "_renamed";
      }
    }
  }
  return module;
}
}  // namespace

void check_laws(std::uint64_t seed, const Module& program, const flow::AnalysisOptions& options,
                Violations& out) {
  Random random(seed);
  const Calls before = broken_calls(program, options);
  const auto must_be_same = [&](const char* what, const Module& changed) {
    const Calls after = broken_calls(changed, options);
    if (after != before)
      out.push_back({"laws", std::string(what) + ": breaks" + text(before) + ", then" + text(after)});
  };
  must_be_same("renaming", renamed(program));
  must_be_same("dead code", with_dead_code(program, random));
  const Calls unknown = broken_calls(with_unknown(program, random), options);
  if (!std::includes(before.begin(), before.end(), unknown.begin(), unknown.end()))
    out.push_back({"laws", "an unknown value: breaks" + text(before) + ", then" + text(unknown)});
}

}  // namespace dtype_guard::oracle
