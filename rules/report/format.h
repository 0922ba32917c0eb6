// Every format that a report can be written in, behind one interface: a name for --format, a line for --help,
// and a writer. A new format is a row in format.cpp.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "rules/report/report.h"

namespace dtype_guard {

struct OutputFormat {
  std::string_view name;         // "sarif"
  std::string_view description;  // one line, for --help
  // Of the options only `frames` is for other formats than text.
  void (*write)(std::ostream& out, const Report& report, const TextOptions& options);
};

std::span<const OutputFormat> output_formats();  // text first
// nullptr when there is none of that name; error messages then list all names and suggest the nearest.
const OutputFormat* find_format(std::string_view name);
std::vector<std::string> names_of_formats();
std::string format_names();  // "text, json, ..."

// All are valid UTF-8 whatever bytes the report holds.
void write_sarif(std::ostream& out, const Report& report, Frames frames = Frames::kFolded);  // SARIF 2.1.0
void write_html(std::ostream& out, const Report& report, Frames frames);  // one self-contained page
void write_github(std::ostream& out, const Report& report);               // workflow commands
void write_gitlab(std::ostream& out, const Report& report);               // Code Quality
void write_rdjson(std::ostream& out, const Report& report);               // reviewdog

}  // namespace dtype_guard
