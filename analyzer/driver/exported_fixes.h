// --export-fixes: findings and fixes as clang-tidy tells them, for clang-apply-replacements and the tools
// that read its files. Clang's own writer makes the YAML of them (analyzer/clang/fixes_file.h).
#pragma once

#include "analyzer/clang/fixes_file.h"
#include "analyzer/flow/edits/source_text.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// Open findings only, named dtype-RULE; a fix is left out where the text does not have its place.
clang_front_end::FixesFile exported_fixes(const Report& report, const flow::SourceText& text);

}  // namespace dtype_guard::driver
