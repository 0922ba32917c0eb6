#include "analyzer/driver/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "rules/text/nearest_name.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using clang_front_end::CompileCommand;
using clang_front_end::UserCode;

namespace {

// Without a trailing slash, so that names can be joined and compared.
std::string absolute(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return (normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path()).string();
}

bool below(const std::string& path, const std::string& folder) {
  return (path + "/").starts_with(folder.ends_with('/') ? folder : folder + "/");
}

// The folder that CMake was started on, as its cache in the build folder tells; empty: not CMake's.
std::string cmake_source_folder(const std::string& database) {
  std::ifstream cache(fs::path(database) / "CMakeCache.txt");
  constexpr std::string_view kKey = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return {};
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

// The project that a compile database speaks of: marked, else what CMake was started on, else where its
// sources are.
std::string project_of(const std::string& database, const std::vector<CompileCommand>& commands) {
  const std::string marked = clang_front_end::project_root((fs::path(database) / "any").string());
  const fs::path folder(database);
  if (marked != database || fs::exists(folder / ".git") || fs::exists(folder / ".dtype-lint.json")) {
    return marked;
  }
  const std::string cmake = cmake_source_folder(database);
  if (!cmake.empty() && fs::is_directory(cmake)) return cmake;
  return commands.empty() ? database : common_folder(commands);
}

std::vector<std::string> checked_sources(const Options& options) {
  std::vector<std::string> files;
  for (const std::string& source : options.sources) {
    std::error_code error;
    if (!fs::exists(source, error)) throw UsageError(fmt::format("no such source file: '{}'", source));
    if (fs::is_directory(source, error)) {
      throw UsageError(
          fmt::format("'{}' is a folder; name source files, or a compile database with -p", source));
    }
    files.push_back(absolute(source));
  }
  return files;
}

std::string database_folder(const Options& options, const std::vector<std::string>& sources) {
  if (!options.database.empty()) {
    // clang-tidy's users name the file itself now and then.
    const fs::path named(absolute(options.database));
    return named.filename() == "compile_commands.json" ? named.parent_path().string() : named.string();
  }
  const std::string start = sources.empty() ? absolute("any") : sources.front();
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
      throw UsageError(fmt::format("--root: no such folder: '{}'", options.root));
    return absolute(options.root);
  }
  if (!sources.empty()) return clang_front_end::project_root(sources.front());
  return project_of(database, commands);
}

// A build folder holds generated and fetched code, unless the project is built in its own folder.
UserCode user_code_of(const std::string& root, const std::vector<std::string>& sources,
                      const std::string& database, const std::vector<CompileCommand>& commands) {
  std::vector<std::string> external = {"*/third_party/*", "*/site-packages/*"};
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

const CompileCommand& command_for(const std::string& source, const std::vector<CompileCommand>& all,
                                  const std::string& database) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const CompileCommand& each) { return each.file == source; });
  if (found != all.end()) return *found;
  std::vector<std::string> known;
  for (const CompileCommand& each : all) known.push_back(each.file);
  throw UsageError(
      fmt::format("'{}' is not in {}/compile_commands.json{}; build it with the project, or give the "
                  "compiler flags after --",
                  source, database, did_you_mean(source, known)));
}

}  // namespace

SourceList find_sources(const Options& options) {
  SourceList list;
  const std::vector<std::string> sources = checked_sources(options);
  if (options.flags) {
    if (sources.empty()) throw UsageError("compiler flags were given after --, but no source file before it");
    list.user_code = user_code_of(root_of(options, sources, "", {}), sources, "", {});
    for (const std::string& source : sources) {
      CompileCommand command{fs::current_path().string(), source, {"c++"}};
      command.arguments.insert(command.arguments.end(), options.flags->begin(), options.flags->end());
      list.commands.push_back(std::move(command));
    }
  } else {
    const std::string database = database_folder(options, sources);
    const std::vector<CompileCommand> all = read_database(database);
    list.user_code = user_code_of(root_of(options, sources, database, all), sources, database, all);
    for (const std::string& source : sources) list.commands.push_back(command_for(source, all, database));
    if (sources.empty()) {
      std::copy_if(all.begin(), all.end(), std::back_inserter(list.commands),
                   [&](const CompileCommand& each) { return list.user_code.contains(each.file); });
      if (list.commands.empty()) {
        throw UsageError(
            fmt::format("{}/compile_commands.json names no source below '{}'; name the project folder "
                        "with --root",
                        database, list.user_code.root()));
      }
    }
  }
  // A file that is compiled several times is looked at once, as it is compiled first.
  std::stable_sort(list.commands.begin(), list.commands.end(),
                   [](const CompileCommand& a, const CompileCommand& b) { return a.file < b.file; });
  const auto same = [](const CompileCommand& a, const CompileCommand& b) { return a.file == b.file; };
  list.commands.erase(std::unique(list.commands.begin(), list.commands.end(), same), list.commands.end());
  return list;
}

}  // namespace dtype_guard::driver
