// Which files one run looks at, and with which compile commands.
#pragma once

#include <string>
#include <vector>

#include "analyzer/clang/front_end.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/source_list.h"

namespace dtype_guard::driver {

// The folder that CMake was started on, as its cache in the build folder tells; empty: not CMake's.
std::string cmake_source_folder(const std::string& database);

// What is listed as not analysed before any file is read.
std::vector<NotAnalysed> not_looked_at(const SourceList& sources);

// Throws UsageError for a source or compile database that is not there.
SourceList find_sources(const Options& options);
// Reads the text of the source that --stdin-filename names.
void take_standard_input(const Options& options, SourceList& sources);

}  // namespace dtype_guard::driver
