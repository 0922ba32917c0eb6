// --export-fixes: findings and fixes as clang-tidy writes them (YAML of clang::tooling), for
// clang-apply-replacements and the tools that read its files. Not by Clang's own writer (DiagnosticsYaml.h):
// that of LLVM 22 ends a text at its first byte that is no UTF-8, so that an edit would lose what stands
// behind it, and a build without Clang writes fixes too.
#pragma once

#include <string>

#include "analyzer/flow/edits/source_text.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// Open findings only, named dtype-RULE; a fix is left out where the text does not have its place.
std::string exported_fixes(const Report& report, const flow::SourceText& text);

}  // namespace dtype_guard::driver
