// --export-fixes: findings and fixes as clang-tidy writes them (YAML of clang::tooling), for
// clang-apply-replacements and the tools that read its files. Not by Clang's own writer (DiagnosticsYaml.h):
// a build without Clang writes fixes too. The tests have clang-apply-replacements apply what is written.
#pragma once

#include <string>

#include "analyzer/flow/edits/source_text.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// Open findings only, named dtype-RULE; a fix is left out where the text does not have its place.
std::string exported_fixes(const Report& report, const flow::SourceText& text);

}  // namespace dtype_guard::driver
