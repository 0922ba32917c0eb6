// Lowers Python text and runs the engine on it, so that a test is a small program and what must be said of
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/flow/analysis.h"
#include "analyzer/python/front_end.h"

namespace dtype_guard::python {

// Of one file, "m.py", and perhaps others by their names.
LoweredFile lowered(const std::string& text, const std::map<std::string, std::string>& others = {});
// "line rule role,role [settings]" for each definite finding in all files, in order; others than m.py with
// their name before the line.
std::vector<std::string> findings(const std::string& text,
                                  const std::map<std::string, std::string>& others = {});
// The settings that are evaluated by default.
flow::AnalysisOptions default_options();
// The same of what an analysis gave.
std::vector<std::string> summary(const flow::AnalysisResult& result);
// The printed instructions of one function, without positions.
std::string instructions(const std::string& text, const std::string& function);

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Imports, and an attention module whose forward holds `body` between its projections and the call.
std::string attention(const std::string& body, const std::string& constructor = "");

}  // namespace dtype_guard::python
