// The server's life: messages of the client from standard input, answers to standard output.
#pragma once

#include <string>

#include "analyzer/lsp/worker.h"

namespace dtype_guard::lsp {

// Returns the exit status: 0 after shutdown and exit, 1 when the client has gone without.
int serve(const std::string& version, const Analyse& analyse);

}  // namespace dtype_guard::lsp
