#include "analyzer/driver/depfile.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analyzer/driver/config.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;

namespace {

// make takes a blank as the end of a name, `#` as a comment and `$` as a variable.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

std::string depfile_text(const FileSummary& summary, const Options& options) {
  std::vector<std::string> files = summary.files_read;
  files.insert(files.end(), options.contract_files.begin(), options.contract_files.end());
  if (!options.config_folder.empty())
    files.push_back((fs::path(options.config_folder) / kConfigName).string());
  for (std::string& each : files) {
    // ninja takes ".." out of a name as text, which is wrong behind a link. Headers that are part of the tool
    // are on no disk.
    std::error_code error;
    each = fs::canonical(each, error).string();
    if (each.find('\n') != std::string::npos) each.clear();
  }
  std::erase(files, "");
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::string text = escaped(options.emit_summary) + ":";
  for (const std::string& each : files) text += " \\\n  " + escaped(each);
  return text + "\n";
}

}  // namespace dtype_guard::driver
