#include "analyzer/driver/editing/language_server.h"

#include "analyzer/driver/editing/analysis_loop.h"
#include "analyzer/driver/usage_error.h"
#include "analyzer/driver/version.h"
#include "analyzer/lsp/serve.h"

namespace dtype_guard::driver {

int serve_editor(const Options& options, const std::vector<std::string>& words) {
  if (!options.sources.empty())
    throw UsageError("--lsp answers for the folders that the editor opens; name no SOURCE");
  return lsp::serve(kVersion,
                    [&](int in, int out, lsp::Mark& mark) { AnalysisLoop(words, in, out, mark).run(); });
}

}  // namespace dtype_guard::driver
