// The options and their texts in --help. What the command line gives is checked in command_line.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/driver/options.h"

namespace dtype_guard::driver {

// What CLI11 fills; strings until they are checked.
struct Written {
  std::vector<std::string> precision, rules, formats, contracts, exclude, libraries;
  std::string torch, explain, fail_on = "warning", color = "auto", cache, config, stdin_file, generate;
  bool list_rules = false, list_contracts = false, version = false, no_cache = false;
  std::optional<int> jobs;
};

void declare(CLI::App& app, Options& options, Written& written);

}  // namespace dtype_guard::driver
