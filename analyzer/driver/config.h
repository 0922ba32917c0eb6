// .dtype-lint.json, or [tool.dtype-lint] of pyproject.toml beside none: what the command line would say, kept
// with the project. The nearest one above the sources counts; with "inherit": true so do those above it.
// Lists add up from the outermost inwards, single values and the precision settings of the nearest win, and
// the command line wins over all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/analysis.h"

namespace dtype_guard::driver {

inline constexpr const char* kConfigName = ".dtype-lint.json";

struct Options;

// Rules for some files alone: patterns as matches_pattern takes them, and a list as --rules takes it.
struct FileRules {
  std::vector<std::string> patterns;
  std::vector<std::string> rules;
};

struct Config {
  std::string file;    // absolute; empty: there is none
  std::string folder;  // of the file
  std::string root;    // of the outermost that it inherits
  std::vector<std::string> precision;
  std::vector<std::string> rules;
  std::vector<FileRules> per_file_rules;
  std::vector<std::string> contracts;  // absolute
  std::vector<std::string> extra_args;
  std::vector<std::string> exclude;              // globs; a relative one is meant below the file's folder
  std::vector<std::string> external;             // likewise: code that is not the project's
  std::vector<flow::PrecisionSetting> settings;  // rows of its own
  std::optional<std::string> torch, device, fail_on;
  std::optional<bool> strict;
  std::optional<unsigned> time_limit;  // seconds for one file
};

// The configuration that holds for files in `folder`; everything empty without one. Throws UsageError.
Config find_config(const std::string& folder);
// The one that holds for a run: of a build folder beside the project, that of the project.
Config nearest_config(const Options& options);
// That file and what it inherits.
Config read_config(const std::string& file);

// A glob as matches_pattern takes it: "x" is any file or folder of that name below `folder`, "a/b" is meant
// below it, "/a" is absolute; a folder stands for everything in it.
std::vector<std::string> path_patterns(const std::string& glob, const std::string& folder);

}  // namespace dtype_guard::driver
