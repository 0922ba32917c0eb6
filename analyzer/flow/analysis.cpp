#include "analyzer/flow/analysis.h"

#include "analyzer/flow/engine.h"
#include "analyzer/flow/findings.h"
#include "analyzer/flow/queries/query.h"
#include "analyzer/flow/reach.h"

namespace dtype_guard::flow {

AnalysisResult analyse(const Module& module, const AnalysisOptions& options) {
  AnalysisResult out;
  const FunctionIndex index(module);
  FindingCollector collector(module, options);
  const std::vector<std::uint32_t> roots = roots_that_reach_sinks(index, Engine::roots(module));
  std::vector<bool> given_up(module.functions.size());
  for (const PrecisionSetting& setting : options.settings) {
    for (const std::uint32_t root : roots) {
      const Function& function = module.functions[root];
      Engine engine(index, options, setting);
      try {
        engine.evaluate_root(root);
      } catch (const BudgetExceeded& problem) {
        if (!given_up[root]) {
          out.not_analysed.push_back(
              {function.name, std::string("budget: ") + problem.what(), function.range});
        }
        given_up[root] = true;
        continue;
      }
      const DefectOptions how{options.settings_named_by_user, function.is_main, options.device};
      for (const SinkRecord& record : engine.records()) {
        for (const Defect& defect : find_defects(record, engine.origins(), engine.symbols(), how)) {
          collector.add(defect, engine, setting.name);
        }
      }
    }
  }
  out.findings = collector.take();
  return out;
}

}  // namespace dtype_guard::flow
