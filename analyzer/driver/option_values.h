// What may stand behind single options: each is checked, or refused by name with what was expected.
#pragma once

#include <string>
#include <vector>

#include "analyzer/driver/options.h"
#include "analyzer/driver/usage_error.h"

namespace dtype_guard::driver {

// All throw UsageError.
void expect_one_of(const char* option, const std::string& given, const std::vector<std::string>& known);
void expect_writable(const char* option, const std::string& file);
// --precision: rows of the tool and `more`, those of the configuration.
void check_precision(const std::vector<std::string>& names, const std::vector<flow::PrecisionSetting>& more,
                     Options& options);
// --torch: one version, or every release from one to the other, ascending.
std::vector<std::string> read_torch_versions(const std::string& written);
// --library: versions by name.
void check_libraries(const std::vector<std::string>& written, Options& options);
// --python: what is there.
void check_python(const Options& options);
// --format: where each report goes.
void check_formats(const std::vector<std::string>& formats, Options& options);

}  // namespace dtype_guard::driver
