#include "analyzer/flow/seen_values.h"

#include <algorithm>
#include <map>
#include <memory>

#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/roots/all_roots.h"
#include "analyzer/flow/roots/named_device.h"
#include "analyzer/flow/roots/reach.h"

namespace dtype_guard::flow {

namespace {

using Kind = Alternative::Kind;

constexpr std::size_t kMostRoots = 64;  // that are evaluated in each setting
constexpr std::size_t kMostAlternatives = 16;

std::string named(Dtype dtype) { return dtype == Dtype::kUndefined ? "" : std::string(name(dtype)); }

SourceLocation location(const Module& module, const SourceRange& range, std::uint32_t function) {
  const bool known = range.line > 0 && range.file < module.files.size();
  return {known ? module.files[range.file] : "", range.line, range.column, range.end_line, range.end_column,
          module.functions[function].name};
}

SeenAlternative seen(const Alternative& each, const Engine& engine, const Module& module) {
  SeenAlternative out;
  out.is_none = each.kind == Kind::kNone;
  out.is_tensor = each.kind == Kind::kTensor;
  out.is_number = each.kind == Kind::kNumber || each.kind == Kind::kBool ||
                  (each.kind == Kind::kTensor && each.rank.wrapped);
  const bool has_dtype = out.is_tensor || out.is_number || each.kind == Kind::kDtype;
  out.dtype = has_dtype ? named(each.dtype) : "";
  out.min_rank = each.rank.min;
  out.max_rank = each.rank.max;
  out.assumed = each.assumed;
  out.uncertain = each.uncertain;
  const Origin* origin = engine.origins().find(each.origin);
  if (origin && origin->instruction) {
    out.origin = SeenOrigin{location(module, origin->instruction->range, origin->function),
                            origin->op,
                            origin->instruction->text,
                            named(origin->before),
                            named(origin->after),
                            origin->by_autocast};
  }
  return out;
}

std::vector<std::uint32_t> functions_of(const FunctionIndex& index,
                                        const std::vector<const Instruction*>& watched) {
  const std::set<const Instruction*> wanted(watched.begin(), watched.end());
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < index.module().functions.size(); ++i) {
    const auto& blocks = index.function(i).blocks;
    const bool has_one = std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      return std::any_of(block.instructions.begin(), block.instructions.end(),
                         [&](const Instruction& each) { return wanted.contains(&each); });
    });
    if (has_one) out.push_back(i);
  }
  return out;
}

}  // namespace

std::vector<SeenValue> values_of(const Program& program, const std::vector<const Instruction*>& watched,
                                 const AnalysisOptions& options) {
  const FunctionIndex& index = program.functions;
  std::vector<std::uint32_t> roots = roots_that_run(index, all_roots(program), functions_of(index, watched));
  roots = nearest_first(program, roots);
  if (roots.size() > kMostRoots) roots.resize(kMostRoots);
  NamedDevices devices(index, program.callers);
  std::vector<SeenValue> out;
  for (const PrecisionSetting& setting : options.settings) {
    std::map<const Instruction*, std::vector<SeenAlternative>> found;
    for (const std::uint32_t root : roots) {
      if (options.before_root) options.before_root(root);
      AnalysisOptions own = options;
      const std::string device = options.device_named_by_user ? "" : devices.of(root);
      if (!device.empty()) own.device = device;
      Work work;
      Engine engine(program, own, setting, own.torch_versions.back(), work);
      WatchedValues values;
      for (const Instruction* each : watched) values[each];
      engine.watch(&values);
      try {
        engine.evaluate_root(root);
      } catch (const BudgetExceeded&) {
        // What was noted before holds.
      }
      for (const auto& [instruction, alternatives] : values) {
        std::vector<SeenAlternative>& list = found[instruction];
        for (const Alternative& each : alternatives) {
          SeenAlternative one = seen(each, engine, index.module());
          if (list.size() < kMostAlternatives && std::find(list.begin(), list.end(), one) == list.end())
            list.push_back(std::move(one));
        }
      }
    }
    for (const Instruction* each : watched) out.push_back({setting.name, each, found[each]});
  }
  return out;
}

}  // namespace dtype_guard::flow
