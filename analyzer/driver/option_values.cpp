#include "analyzer/driver/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "analyzer/driver/usage_error.h"
#include "rules/command_line/wrong_words.h"
#include "rules/files/atomic_file.h"
#include "rules/operators/version.h"

namespace dtype_guard::driver {

namespace {

// "2.4" or "2.4.1".
bool is_version(std::string_view text) {
  for (int parts = 1; parts <= 3; ++parts) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > 4) return false;
    text.remove_prefix(digits);
    if (text.empty()) return parts >= 2;
    if (text.front() != '.') return false;
    text.remove_prefix(1);
  }
  return false;
}

std::size_t release(const std::string& text, const std::string& written) {
  const std::string whole = text == written ? "" : fmt::format(" in '{}'", written);
  if (!is_version(text)) {
    throw UsageError(fmt::format(
        "--torch: '{}'{} is not a version such as 2.4; a range is written A..B, as 2.4..2.13", text, whole));
  }
  const auto found = std::find_if(kTorchReleases.begin(), kTorchReleases.end(), [&](std::string_view each) {
    return parse_torch_version(each) == parse_torch_version(text);
  });
  if (found == kTorchReleases.end()) {
    throw UsageError(
        fmt::format("--torch: nothing is known of version '{}'{}; the rules cover {}; give one of these",
                    text, whole, fmt::join(kTorchReleases, ", ")));
  }
  return static_cast<std::size_t>(found - kTorchReleases.begin());
}

}  // namespace

void expect_one_of(const char* option, const std::string& given, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), given) != known.end()) return;
  throw UsageError(none_of(option, given, known));
}

void check_precision(const std::vector<std::string>& names, const std::vector<flow::PrecisionSetting>& more,
                     Options& options) {
  std::vector<std::string> known;
  std::vector<flow::PrecisionSetting> rows = flow::precision_settings();
  rows.insert(rows.end(), more.begin(), more.end());
  for (const flow::PrecisionSetting& each : rows) known.push_back(each.name);
  for (const std::string& name : names) expect_one_of("--precision", name, known);
  options.settings_named = !names.empty();
  for (const flow::PrecisionSetting& each : rows) {
    const bool named = std::find(names.begin(), names.end(), each.name) != names.end();
    if (names.empty() ? each.by_default : named) options.settings.push_back(each);
  }
}

void expect_writable(const char* option, const std::string& file) {
  const std::string problem = why_not_writable(file);
  if (problem.empty()) return;
  throw UsageError(
      fmt::format("{}: cannot write '{}': {}; name a file in a folder that exists and is writable", option,
                  file, problem));
}

// "2.4", or "2.4..2.13": every release from one to the other.
std::vector<std::string> read_torch_versions(const std::string& written) {
  const std::size_t dots = written.find("..");
  const std::size_t first = release(written.substr(0, dots), written);
  const std::size_t last = dots == std::string::npos ? first : release(written.substr(dots + 2), written);
  if (last < first) {
    throw UsageError(fmt::format("--torch: '{}' ends before it begins; write {}..{}", written,
                                 kTorchReleases[last], kTorchReleases[first]));
  }
  return {kTorchReleases.begin() + static_cast<std::ptrdiff_t>(first),
          kTorchReleases.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

void check_libraries(const std::vector<std::string>& written, Options& options) {
  std::vector<std::string> known;
  for (const Api& each : options.contracts.apis) {
    if (std::find(known.begin(), known.end(), each.library) == known.end()) known.push_back(each.library);
  }
  for (const std::string& each : written) {
    const std::size_t equals = each.find('=');
    const std::string name = each.substr(0, equals);
    const std::string version = equals == std::string::npos ? "" : each.substr(equals + 1);
    if (!is_version(version)) {
      throw UsageError(fmt::format("--library: '{}' is not NAME=VERSION; write it as flash_attn=2.7", each));
    }
    expect_one_of("--library", name, known);
    if (!options.libraries.emplace(name, version).second)
      throw UsageError(fmt::format("--library: '{}' is given twice; a run has one version of it", name));
  }
}

void check_python(const Options& options) {
  if (options.python.empty() || !package_folders(options.python, "").empty()) return;
  throw UsageError(fmt::format(
      "--python: '{}' has no lib/python*/site-packages below it or beside it; name an environment, "
      "such as .venv, or its bin/python",
      options.python));
}

void check_formats(const std::vector<std::string>& formats, Options& options) {
  bool on_terminal = false;
  for (const std::string& each : formats) {
    const std::size_t equals = each.find('=');
    const std::string format = each.substr(0, equals);
    ReportTarget target;
    target.format = find_format(format);
    if (target.format == nullptr) throw UsageError(none_of("--format", format, names_of_formats()));
    if (equals != std::string::npos) target.file = each.substr(equals + 1);
    if (equals != std::string::npos && target.file.empty()) {
      throw UsageError(fmt::format("--format: '{}' names no file after '='", each));
    }
    if (target.file == "-") target.file.clear();
    if (target.file.empty() && std::exchange(on_terminal, true)) {
      throw UsageError(
          "--format: only one format can go to standard output; give the others a file, FORMAT=FILE");
    }
    options.reports.push_back(std::move(target));
  }
  if (!on_terminal) options.reports.insert(options.reports.begin(), ReportTarget{});
  const ReportTarget& shown = *std::find_if(options.reports.begin(), options.reports.end(),
                                            [](const ReportTarget& each) { return each.file.empty(); });
  if (options.statistics && shown.format->name != "text") {
    throw UsageError(fmt::format(
        "--statistics: stands in for the text report on standard output, and --format sends {} there; "
        "write that to a file, {}=FILE",
        shown.format->name, shown.format->name));
  }
  for (const ReportTarget& target : options.reports) {
    if (target.file.empty()) continue;
    expect_writable("--format", target.file);
    if (std::filesystem::exists(target.file) && !std::filesystem::is_regular_file(target.file)) continue;
    const auto place = [](const std::string& file) {
      return std::filesystem::absolute(file).lexically_normal();
    };
    const auto same = std::find_if(options.reports.begin(), options.reports.end(), [&](const auto& each) {
      return !each.file.empty() && place(each.file) == place(target.file);
    });
    if (&*same != &target) {
      throw UsageError(
          fmt::format("--format: '{}' and '{}' are both to be written to '{}'; give each a file of its own",
                      same->format->name, target.format->name, target.file));
    }
  }
}

}  // namespace dtype_guard::driver
