#include "analyzer/flow/analysis.h"

#include "analyzer/flow/roots/all_roots.h"
#include "analyzer/flow/roots/reach.h"

namespace dtype_guard::flow {

std::vector<std::uint32_t> roots_to_analyse(const Program& program,
                                            const std::vector<std::uint32_t>& through) {
  return roots_through(program, roots_that_reach_sinks(program, all_roots(program)), through);
}

std::vector<std::uint32_t> roots_through(const Program& program, const std::vector<std::uint32_t>& roots,
                                         const std::vector<std::uint32_t>& through) {
  return through.empty() ? roots : roots_that_run(program.functions, roots, through);
}

AnalysisResult analyse(const Module& module, const AnalysisOptions& options) {
  const Program program(module);
  return analyse(program, roots_to_analyse(program), options);
}

}  // namespace dtype_guard::flow
