#include "analyzer/driver/header_user.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using clang_front_end::CompileCommand;

namespace {

constexpr int kLongestChain = 8;

// The names in a file's #include lines.
std::vector<std::string> included_names(const std::string& file) {
  std::vector<std::string> names;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    const std::size_t begin = line.find_first_of("\"<", at);
    const std::size_t end = begin == std::string::npos ? begin : line.find_first_of("\">", begin + 1);
    if (end != std::string::npos) names.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return names;
}

std::vector<fs::path> search_folders(const CompileCommand& command) {
  static constexpr std::array<std::string_view, 4> kFlags = {"-I", "-isystem", "-iquote", "-idirafter"};
  std::vector<fs::path> folders;
  for (std::size_t i = 1; i < command.arguments.size(); ++i) {
    const std::string& argument = command.arguments[i];
    for (const std::string_view flag : kFlags) {
      if (!argument.starts_with(flag)) continue;
      std::string folder = argument.substr(flag.size());
      if (folder.empty() && i + 1 < command.arguments.size()) folder = command.arguments[i + 1];
      if (folder.starts_with('=')) folder.erase(0, 1);
      folders.push_back(fs::path(command.directory) / folder);
      break;
    }
  }
  return folders;
}

// As the compiler would find it: beside the file that includes it, or in a folder of the command.
std::string resolved(const std::string& name, const fs::path& from, const std::vector<fs::path>& folders) {
  std::error_code error;
  const fs::path beside = (from.parent_path() / name).lexically_normal();
  if (fs::is_regular_file(beside, error)) return beside.string();
  for (const fs::path& folder : folders) {
    const fs::path path = (folder / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return "";
}

class IncludeSearch {
 public:
  IncludeSearch(const CompileCommand& command, const std::string& header,
                const clang_front_end::UserCode& user_code,
                std::map<std::string, std::vector<std::string>>& names)
      : folders_(search_folders(command)), header_(header), user_code_(user_code), names_(names) {}

  // The number of steps from the file to the header; more than kLongestChain when it is not reached.
  int distance(const std::string& from) {
    std::vector<std::string> level = {from};
    std::set<std::string> seen = {from};
    for (int steps = 1; steps <= kLongestChain && !level.empty(); ++steps) {
      std::vector<std::string> next;
      for (const std::string& file : level) {
        for (const std::string& found : includes(file)) {
          if (found == header_) return steps;
          if (seen.insert(found).second) next.push_back(found);
        }
      }
      level = std::move(next);
    }
    return kLongestChain + 1;
  }

 private:
  std::vector<std::string> includes(const std::string& file) {
    auto known = names_.find(file);
    if (known == names_.end()) known = names_.emplace(file, included_names(file)).first;
    std::vector<std::string> out;
    for (const std::string& name : known->second) {
      std::string path = resolved(name, file, folders_);
      // Other people's headers do not include the user's.
      if (path == header_ || user_code_.contains(path)) out.push_back(std::move(path));
    }
    return out;
  }

  std::vector<fs::path> folders_;
  const std::string& header_;
  const clang_front_end::UserCode& user_code_;
  std::map<std::string, std::vector<std::string>>& names_;
};

}  // namespace

bool is_header(const std::string& file) {
  static constexpr std::array<std::string_view, 9> kEndings = {".h",   ".hh",  ".hpp", ".hxx", ".h++",
                                                               ".cuh", ".inl", ".inc", ".ipp"};
  const std::string ending = fs::path(file).extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool includes_source(const CompileCommand& command, const clang_front_end::UserCode& user_code) {
  const std::vector<fs::path> folders = search_folders(command);
  const std::vector<std::string> names = included_names(command.file);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::string path = is_header(name) ? "" : resolved(name, command.file, folders);
    // The standard library's headers have no ending.
    return !path.empty() && fs::path(path).has_extension() && user_code.contains(path);
  });
}

const CompileCommand* command_that_includes(const std::string& header,
                                            const std::vector<CompileCommand>& commands,
                                            const clang_front_end::UserCode& user_code) {
  std::map<std::string, std::vector<std::string>> names;
  const CompileCommand* nearest = nullptr;
  int shortest = kLongestChain + 1;
  for (const CompileCommand& each : commands) {
    const int distance = IncludeSearch(each, header, user_code, names).distance(each.file);
    const bool better = distance < shortest || (nearest && distance == shortest && each.file < nearest->file);
    if (distance > kLongestChain || !better) continue;
    nearest = &each;
    shortest = distance;
  }
  return nearest;
}

}  // namespace dtype_guard::driver
