#include "analyzer/driver/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string_view>

#include "analyzer/driver/header_user.h"
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

bool matches_any(const std::string& path, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& each) { return clang_front_end::matches_pattern(path, each); });
}

// Files, absolute; folders and globs stay as patterns for the compile database.
std::vector<std::string> checked_sources(const Options& options) {
  std::vector<std::string> files;
  if (!options.stdin_file.empty()) {
    if (!options.sources.empty() && options.sources != std::vector<std::string>{"-"}) {
      throw UsageError("--stdin-filename: the source comes from standard input; name no other");
    }
    return {options.stdin_file};
  }
  for (const std::string& source : options.sources) {
    std::error_code error;
    if (fs::is_directory(source, error)) {
      if (options.flags) {
        throw UsageError(
            fmt::format("'{}' is a folder; name source files, or a compile database with -p", source));
      }
      files.push_back(absolute(source) + "/*");
    } else if (fs::exists(source, error)) {
      files.push_back(absolute(source));
    } else if (source.find('*') != std::string::npos && !options.flags) {
      files.push_back(absolute(source));
    } else {
      throw UsageError(fmt::format("no such source file: '{}'", source));
    }
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
  if (!sources.empty()) {
    // A configuration that inherits marks no project of its own.
    const std::string marked = clang_front_end::project_root(sources.front());
    return marked == options.config_folder ? options.config_root : marked;
  }
  return project_of(database, commands);
}

// A build folder holds generated and fetched code, unless the project is built in its own folder.
UserCode user_code_of(const Options& options, const std::string& root,
                      const std::vector<std::string>& sources, const std::string& database,
                      const std::vector<CompileCommand>& commands) {
  std::vector<std::string> external = {"*/third_party/*", "*/site-packages/*"};
  external.insert(external.end(), options.external.begin(), options.external.end());
  // A file that was named is wanted, whatever is excluded.
  std::copy_if(options.exclude.begin(), options.exclude.end(), std::back_inserter(external),
               [&](const std::string& pattern) {
                 return std::none_of(sources.begin(), sources.end(), [&](const std::string& each) {
                   return clang_front_end::matches_pattern(each, pattern) || below(each, pattern);
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

[[noreturn]] void not_in_database(const std::string& source, const std::vector<CompileCommand>& all,
                                  const std::string& database) {
  std::vector<std::string> known;
  for (const CompileCommand& each : all) known.push_back(each.file);
  throw UsageError(
      fmt::format("'{}' is not in {}/compile_commands.json{}; build it with the project, or give the "
                  "compiler flags after --",
                  source, database, did_you_mean(source, known)));
}

// The commands for one SOURCE: a file's, those of the files in a folder, that of a file that includes a
// header.
void add_commands(const std::string& source, const std::vector<CompileCommand>& all,
                  const std::string& database, const Options& options, SourceList& list) {
  const bool pattern = source.find('*') != std::string::npos && !fs::exists(source);
  const std::size_t before = list.commands.size();
  std::copy_if(all.begin(), all.end(), std::back_inserter(list.commands), [&](const CompileCommand& each) {
    return pattern ? clang_front_end::matches_pattern(each.file, source) &&
                         !matches_any(each.file, options.exclude)
                   : each.file == source;
  });
  if (list.commands.size() > before) return;
  if (!is_header(source)) not_in_database(source, all, database);
  const CompileCommand* user = command_that_includes(source, all, list.user_code);
  if (!user) {
    throw UsageError(
        fmt::format("'{}' is a header, and no file of {}/compile_commands.json includes it; give "
                    "the compiler flags after --",
                    source, database));
  }
  list.commands.push_back(*user);
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
  return list;
}

SourceList from_database(const Options& options, const std::vector<std::string>& sources) {
  SourceList list;
  const std::string database = database_folder(options, sources);
  const std::vector<CompileCommand> all = read_database(database);
  list.user_code = user_code_of(options, root_of(options, sources, database, all), sources, database, all);
  for (const std::string& source : sources) add_commands(source, all, database, options, list);
  if (!sources.empty()) return list;
  std::copy_if(all.begin(), all.end(), std::back_inserter(list.commands),
               [&](const CompileCommand& each) { return list.user_code.contains(each.file); });
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

SourceList find_sources(const Options& options) {
  const std::vector<std::string> sources = checked_sources(options);
  SourceList list = options.flags ? with_flags(options, sources) : from_database(options, sources);
  drop_equal_commands(list, options);
  if (!sources.empty() && std::all_of(sources.begin(), sources.end(), is_header)) {
    for (const std::string& each : sources) list.headers.push_back(list.user_code.report_name(each));
  }
  if (!options.stdin_file.empty()) {
    std::ostringstream text;
    text << std::cin.rdbuf();
    list.texts[options.stdin_file] = text.str();
  }
  return list;
}

}  // namespace dtype_guard::driver
