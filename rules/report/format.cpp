#include "rules/report/format.h"

#include <vector>

namespace dtype_guard {
namespace {

template <void (*kWrite)(std::ostream&, const Report&)>
void without_options(std::ostream& out, const Report& report, const TextOptions& /*options*/) {
  kWrite(out, report);
}

template <void (*kWrite)(std::ostream&, const Report&, Frames)>
void with_stacks(std::ostream& out, const Report& report, const TextOptions& options) {
  kWrite(out, report, options.frames);
}

constexpr OutputFormat kFormats[] = {
    {"text", "for people, as compilers print", &write_text},
    {"json", "everything, for scripts; dtype-guard/report/1", &without_options<&write_json>},
    {"sarif", "SARIF 2.1.0, for code scanning and IDEs", &with_stacks<&write_sarif>},
    {"html", "one page for a browser, with the paths drawn", &with_stacks<&write_html>},
    {"github", "annotations of GitHub Actions, worst first", &without_options<&write_github>},
    {"gitlab", "GitLab Code Quality", &without_options<&write_gitlab>},
    {"rdjson", "reviewdog, with fixes as suggestions", &without_options<&write_rdjson>},
};

}  // namespace

std::span<const OutputFormat> output_formats() { return kFormats; }

const OutputFormat* find_format(std::string_view name) {
  for (const OutputFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (const OutputFormat& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string format_names() {
  std::string names;
  for (const OutputFormat& format : kFormats) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

}  // namespace dtype_guard
