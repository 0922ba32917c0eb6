// Processes of a run that its report does not speak of, or not to their end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "rules/report/report.h"

namespace dtype_guard::san {

// The processes that were started with this variable ("NAME=VALUE", which no other run has) or forked from
// one that was. Such as end with their parent, as helpers of Python's multiprocessing do, are given half a
// second for it.
std::vector<pid_t> still_running(const std::string& variable);

std::string runs_on(std::size_t processes);

// For the closing line: "; not watched: 1 program that ...", or nothing.
std::string programs_without_library(const Report& report);

}  // namespace dtype_guard::san
