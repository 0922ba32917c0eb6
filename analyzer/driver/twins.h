// Files that are generated from others: modeling_x.py from modular_x.py beside it. What both have is one
// finding, at the source.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/edits/source_text.h"
#include "rules/finding/finding.h"

namespace dtype_guard::driver {

// The file that this one is generated from, by both names and the text: "m/modular_x.py" for
// "m/modeling_x.py" that names it at its beginning; else empty.
std::string source_of_twin(const std::string& file, const flow::SourceText& text);

// Those of the files that others among them are generated from.
std::set<std::string> sources_of_twins(const std::vector<std::string>& files, const flow::SourceText& text);

// Drops the findings of generated files that their source has too; their calls go to those of the source.
void merge_twins(std::vector<Finding>& findings, const flow::SourceText& text);

}  // namespace dtype_guard::driver
