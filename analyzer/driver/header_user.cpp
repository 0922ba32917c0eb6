#include "analyzer/driver/header_user.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::CompileCommand;

namespace {

constexpr int kLongestChain = 8;

// The names in a file's #include lines.
std::vector<std::string> included_names(const std::string& file) {
  std::vector<std::string> names;
  if (!not_a_file(file).empty()) return names;
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

// What the command itself includes before the source's first line.
std::vector<std::string> forced_names(const CompileCommand& command) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < command.arguments.size(); ++i) {
    const std::string& argument = command.arguments[i];
    if (argument.starts_with("--include=")) names.push_back(argument.substr(10));
    const bool apart = argument == "-include" || argument == "--include";
    if (apart && i + 1 < command.arguments.size()) names.push_back(command.arguments[++i]);
  }
  return names;
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

// Files and what they include, each file's text read once and each name looked up once for the folders of a
// command.
class IncludeGraph {
 public:
  IncludeGraph(const WantedFile& wanted, const source::UserCode& user_code)
      : wanted_(wanted), user_code_(user_code) {}

  // What is wanted and reached from the command's source, with the number of steps.
  std::map<std::string, int> reached(const CompileCommand& command) {
    const std::vector<fs::path> folders = search_folders(command);
    Edges& edges = edges_[folders];
    std::map<std::string, int> out;
    std::vector<std::size_t> level = {number(command.file)};
    std::vector<bool> seen(names_.size());
    seen[level.front()] = true;
    std::vector<std::size_t> next;
    const auto take = [&](std::size_t file, int steps) {
      if (seen.size() < names_.size()) seen.resize(names_.size());
      if (seen[file]) return;
      seen[file] = true;
      next.push_back(file);
      if (wanted_(names_[file])) out.emplace(names_[file], steps);
    };
    // Looked for where the compiler is started, not beside the source.
    const std::string start = (fs::path(command.directory) / "any").string();
    for (const std::size_t file : found(forced_names(command), start, folders)) take(file, 1);
    for (int steps = 1; steps <= kLongestChain && !level.empty(); ++steps) {
      for (const std::size_t from : level) {
        for (const std::size_t file : included(from, folders, edges)) take(file, steps);
      }
      level = std::exchange(next, {});
    }
    return out;
  }

 private:
  using Edges = std::map<std::size_t, std::vector<std::size_t>>;

  std::size_t number(const std::string& file) {
    const auto [known, fresh] = numbers_.try_emplace(file, names_.size());
    if (fresh) names_.push_back(file);
    return known->second;
  }

  const std::vector<std::size_t>& included(std::size_t from, const std::vector<fs::path>& folders,
                                           Edges& edges) {
    const auto [known, fresh] = edges.try_emplace(from);
    if (!fresh) return known->second;
    const auto [text, unread] = texts_.try_emplace(from);
    if (unread) text->second = included_names(names_[from]);
    known->second = found(text->second, names_[from], folders);
    return known->second;
  }

  std::vector<std::size_t> found(const std::vector<std::string>& names, const std::string& from,
                                 const std::vector<fs::path>& folders) {
    std::vector<std::size_t> files;
    for (const std::string& name : names) {
      const std::string path = resolved(name, from, folders);
      // External headers do not include the user's.
      if (wanted_(path) || user_code_.contains(path)) files.push_back(number(path));
    }
    return files;
  }

  const WantedFile& wanted_;
  const source::UserCode& user_code_;
  std::map<std::string, std::size_t> numbers_;
  std::deque<std::string> names_;                          // which stay where they are
  std::map<std::size_t, std::vector<std::string>> texts_;  // the names in #include lines
  std::map<std::vector<fs::path>, Edges> edges_;
};

}  // namespace

bool includes_source(const CompileCommand& command, const source::UserCode& user_code) {
  const std::vector<fs::path> folders = search_folders(command);
  const std::vector<std::string> names = included_names(command.file);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::string path = is_header(name) ? "" : resolved(name, command.file, folders);
    // The standard library's headers have no ending.
    return !path.empty() && fs::path(path).has_extension() && user_code.contains(path);
  });
}

HeaderUsers commands_that_include(const WantedFile& wanted, const std::vector<CompileCommand>& commands,
                                  const source::UserCode& user_code) {
  IncludeGraph graph(wanted, user_code);
  std::map<std::string, std::vector<std::pair<int, const CompileCommand*>>> found;
  for (const CompileCommand& each : commands) {
    for (const auto& [file, steps] : graph.reached(each)) found[file].emplace_back(steps, &each);
  }
  HeaderUsers users;
  for (auto& [file, all] : found) {
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second->file) < std::tie(b.first, b.second->file);
    });
    for (const auto& [steps, command] : all) users[file].push_back(command);
  }
  return users;
}

}  // namespace dtype_guard::driver
