// dtype-lint --lsp: the server of analyzer/lsp/ with this driver as its analysis.
#pragma once

#include <string>
#include <vector>

#include "analyzer/driver/options.h"

namespace dtype_guard::driver {

// `words`: the command line, which holds for every folder. The exit status.
int serve_editor(const Options& options, const std::vector<std::string>& words);

}  // namespace dtype_guard::driver
