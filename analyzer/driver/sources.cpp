#include "analyzer/driver/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string_view>

#include "analyzer/driver/header_user.h"
#include "analyzer/driver/named_sources.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::CompileCommand;
using source::UserCode;

namespace {

// Folders in which projects keep the code of others.
constexpr std::array<const char*, 2> kOthersFolders = {"third_party", "site-packages"};

bool below(const std::string& path, const std::string& folder) {
  return (path + "/").starts_with(folder.ends_with('/') ? folder : folder + "/");
}

std::string common_folder(const std::vector<CompileCommand>& commands) {
  fs::path common;
  for (const CompileCommand& each : commands) {
    const fs::path folder = fs::path(each.file).parent_path();
    if (common.empty()) common = folder;
    while (!below(folder.string(), common.string())) common = common.parent_path();
  }
  return common.string();
}

bool is_marked(const fs::path& folder) {
  return fs::exists(folder / ".git") || fs::exists(folder / ".dtype-lint.json");
}

// The project that a compile database speaks of: marked, else what CMake was started on, else where its
// sources are.
std::string project_of(const std::string& database, const std::vector<CompileCommand>& commands) {
  const std::string marked = source::project_root((fs::path(database) / "any").string());
  if (is_marked(marked)) return marked;
  const std::string cmake = cmake_source_folder(database);
  if (!cmake.empty() && fs::is_directory(cmake)) return cmake;
  return commands.empty() ? database : common_folder(commands);
}

std::string database_folder(const Options& options, const std::vector<std::string>& sources) {
  if (!options.database.empty()) {
    // clang-tidy's users name the file itself now and then.
    const fs::path named(absolute_name(options.database));
    return named.filename() == "compile_commands.json" ? named.parent_path().string() : named.string();
  }
  const std::string start = sources.empty() ? absolute_name("any") : sources.front();
  if (const auto found = clang_front_end::find_compile_database(start)) return *found;
  throw UsageError(fmt::format(
      "no compile_commands.json in '{}', in a folder above it or in build/ below one of those; configure "
      "the project with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON and name its build folder with -p, or give the "
      "compiler flags after --",
      fs::path(start).parent_path().string()));
}

std::string root_of(const Options& options, const std::vector<std::string>& sources,
                    const std::string& database, const std::vector<CompileCommand>& commands) {
  if (!options.root.empty()) {
    std::error_code error;
    if (!fs::is_directory(options.root, error))
      throw UsageError(fmt::format("--root: '{}' is no folder; name the project's, or leave the option out",
                                   options.root));
    return absolute_name(options.root);
  }
  if (!sources.empty()) {
    // A configuration that inherits marks no project of its own.
    const std::string marked = source::project_root(sources.front());
    if (marked == options.config_folder) return options.config_root;
    if (is_marked(marked) || database.empty()) return marked;
    // The same files have the same names as in a run over all of them.
    const std::string project = project_of(database, commands);
    return below(sources.front(), project) ? project : marked;
  }
  return project_of(database, commands);
}

// A build folder holds generated and fetched code, unless the project is built in its own folder.
UserCode user_code_of(const Options& options, const std::string& root,
                      const std::vector<std::string>& sources, const std::string& database,
                      const std::vector<CompileCommand>& commands) {
  std::vector<std::string> patterns = options.external;
  patterns.insert(patterns.end(), options.exclude.begin(), options.exclude.end());
  for (const char* folder : kOthersFolders) {
    const std::string pattern = fmt::format("/{}/*", folder);
    // A project may itself stand in such a folder.
    const bool around = source::matches_pattern(root + "/", "*" + pattern);
    patterns.push_back(around ? root + "/*" + pattern : "*" + pattern);
    if (around) patterns.push_back(root + pattern);
  }
  std::vector<std::string> external;
  // A file that was named is wanted, whatever is excluded.
  std::copy_if(patterns.begin(), patterns.end(), std::back_inserter(external),
               [&](const std::string& pattern) {
                 return std::none_of(sources.begin(), sources.end(), [&](const std::string& each) {
                   return source::matches_pattern(each, pattern) || below(each, pattern);
                 });
               });
  bool holds_source = std::any_of(sources.begin(), sources.end(),
                                  [&](const std::string& each) { return below(each, database); });
  if (sources.empty()) {
    holds_source = std::all_of(commands.begin(), commands.end(), [&](const CompileCommand& each) {
      return !below(each.file, root) || below(each.file, database);
    });
  }
  const bool encloses_root = below(root, database);
  if (!database.empty() && !holds_source && !encloses_root) external.push_back(database);
  return UserCode(root, external);
}

std::vector<CompileCommand> read_database(const std::string& folder) {
  try {
    return clang_front_end::read_compile_database(folder);
  } catch (const clang_front_end::CompileDatabaseError& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::string> report_names(const std::vector<std::string>& files, const UserCode& user_code) {
  std::vector<std::string> names;
  for (const std::string& each : files) names.push_back(user_code.report_name(each));
  return names;
}

SourceList with_flags(const Options& options, const std::vector<std::string>& sources) {
  if (sources.empty()) throw UsageError("compiler flags were given after --, but no source file before it");
  SourceList list;
  list.user_code = user_code_of(options, root_of(options, sources, "", {}), sources, "", {});
  for (const std::string& source : sources) {
    CompileCommand command{fs::current_path().string(), source, {"c++"}};
    const bool language =
        std::find(options.flags->begin(), options.flags->end(), "-x") != options.flags->end();
    if (is_header(source) && !language) command.arguments.insert(command.arguments.end(), {"-x", "c++"});
    command.arguments.insert(command.arguments.end(), options.flags->begin(), options.flags->end());
    list.commands.push_back(std::move(command));
  }
  if (std::all_of(sources.begin(), sources.end(), is_header)) {
    list.headers = report_names(sources, list.user_code);
    list.carriers = {list.headers.begin(), list.headers.end()};
  }
  return list;
}

SourceList from_database(const Options& options, std::vector<std::string>& sources) {
  SourceList list;
  const std::string database = database_folder(options, sources);
  const std::vector<CompileCommand> all = read_database(database);
  for (std::string& each : sources) each = name_in_database(each, all);
  list.user_code = user_code_of(options, root_of(options, sources, database, all), sources, database, all);
  if (!sources.empty()) {
    add_named(sources, all, database, options, list);
    return list;
  }
  std::copy_if(all.begin(), all.end(), std::back_inserter(list.commands),
               [&](const CompileCommand& each) { return is_users_source(each, database, list.user_code); });
  if (list.commands.empty()) {
    throw UsageError(
        fmt::format("{}/compile_commands.json names no source below '{}'{}; name the project folder "
                    "with --root",
                    database, list.user_code.root(), options.exclude.empty() ? "" : " that is not excluded"));
  }
  return list;
}

// A file that is compiled several times is looked at once for each way that differs; commands for one file
// keep their order.
void drop_equal_commands(SourceList& list, const Options& options) {
  std::stable_sort(list.commands.begin(), list.commands.end(),
                   [](const CompileCommand& a, const CompileCommand& b) { return a.file < b.file; });
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  clang_front_end::LoweringOptions lowering;
  lowering.extra_arguments = options.extra_arguments;
  std::erase_if(list.commands, [&](const CompileCommand& each) {
    return !seen.emplace(each.directory, clang_front_end::adjusted_command(each, lowering)).second;
  });
}

}  // namespace

std::string cmake_source_folder(const std::string& database) {
  const fs::path file = fs::path(database) / "CMakeCache.txt";
  if (!not_a_file(file).empty()) return {};
  std::ifstream cache(file);
  constexpr std::string_view kKey = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return {};
}

SourceList find_sources(const Options& options) {
  std::vector<std::string> sources = checked_sources(options);
  SourceList list = options.flags ? with_flags(options, sources) : from_database(options, sources);
  drop_equal_commands(list, options);
  if (!options.stdin_file.empty()) {
    std::ostringstream text;
    text << std::cin.rdbuf();
    list.texts[options.stdin_file] = text.str();
  }
  return list;
}

}  // namespace dtype_guard::driver
