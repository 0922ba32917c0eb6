// What a SOURCE of the command line stands for: a file, or all that the compile database builds of a folder.
#pragma once

#include <string>
#include <vector>

#include "analyzer/clang/front_end.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/source_list.h"

namespace dtype_guard::driver {

// Without a trailing slash, so that names can be joined and compared.
std::string absolute_name(const std::string& path);

// The SOURCEs, absolute; a folder is the pattern of all that is below it. Throws UsageError for what is not
// there.
std::vector<std::string> checked_sources(const Options& options);

// A SOURCE that may be many files: a folder or a glob.
bool is_pattern(const std::string& source);

// A file or folder is known by one of its names where links lead to it: that of the database.
std::string name_in_database(const std::string& source, const std::vector<source::CompileCommand>& all);

// A source of the user's that is compiled by itself, or what a unity build compiles such sources through.
bool is_users_source(const source::CompileCommand& command, const std::string& database,
                     const source::UserCode& user_code);

// Adds the commands for the SOURCEs to the list, which has its user_code. A file without a command, and one
// of a folder that none of the folder's sources includes, is looked at through a file that includes it.
// Throws UsageError when the only SOURCE stands for nothing; beside others it is listed as missing.
void add_named(const std::vector<std::string>& sources, const std::vector<source::CompileCommand>& all,
               const std::string& database, const Options& options, SourceList& list);

}  // namespace dtype_guard::driver
