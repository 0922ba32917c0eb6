#include "analyzer/driver/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "analyzer/driver/header_user.h"
#include "analyzer/driver/named_sources.h"
#include "analyzer/driver/source_walk.h"
#include "analyzer/driver/usage_error.h"
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

// Of sources that no mark and no build names the project of: what Python's tools would take, else the current
// folder, where that holds all of them, so that files are called what they were called on the command line;
// else the folder that they have in common.
std::string python_project(const std::vector<std::string>& sources) {
  const fs::path folder = fs::path(sources.front()).parent_path();
  std::error_code error;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (is_marked(at)) return at.string();
    for (const char* name : {"pyproject.toml", "setup.py", "setup.cfg"}) {
      if (fs::exists(at / name, error)) return at.string();
    }
    if (at == at.root_path()) break;
  }
  const std::string here = fs::current_path(error).string();
  const auto is_here = [&](const std::string& each) { return below(each, here); };
  if (!here.empty() && std::all_of(sources.begin(), sources.end(), is_here)) return here;
  fs::path common = folder;
  for (const std::string& each : sources) {
    while (!below(each, common.string())) common = common.parent_path();
  }
  return common.string();
}

std::optional<std::string> database_folder(const Options& options, const std::vector<std::string>& sources) {
  if (!options.database.empty()) {
    // clang-tidy's users name the file itself now and then.
    const fs::path named(absolute_name(options.database));
    return named.filename() == "compile_commands.json" ? named.parent_path().string() : named.string();
  }
  return clang_front_end::find_compile_database(sources.empty() ? absolute_name("any") : sources.front());
}

std::string no_database(const std::vector<std::string>& sources) {
  if (!clang_front_end::is_built_in()) {
    return "this dtype-lint was built without Clang (DTYPE_GUARD_CLANG=OFF) and reads Python alone";
  }
  const std::string start = sources.empty() ? absolute_name("any") : sources.front();
  return fmt::format(
      "no compile_commands.json in '{}', in a folder above it or in build/ below one of those; configure "
      "the project with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON and name its build folder with -p, or give the "
      "compiler flags after --",
      fs::path(start).parent_path().string());
}

// A folder by the name that the files have it by, where a link leads to it: by another name none of them
// would be below it.
std::string as_files_name_it(const std::string& folder, const std::vector<std::string>& files) {
  const auto is_inside = [&](const std::string& each) { return below(each, folder); };
  if (std::any_of(files.begin(), files.end(), is_inside)) return folder;
  for (const std::string& file : files) {
    for (fs::path each = fs::path(file).parent_path(); each.has_relative_path(); each = each.parent_path()) {
      std::error_code error;
      if (fs::equivalent(each, folder, error)) return each.string();
    }
  }
  return folder;
}

std::string root_of(const Options& options, const std::vector<std::string>& sources,
                    const std::string& database, const std::vector<CompileCommand>& commands) {
  if (!options.root.empty()) {
    std::error_code error;
    if (!fs::is_directory(options.root, error))
      throw UsageError(fmt::format("--root: '{}' is no folder; name the project's, or leave the option out",
                                   options.root));
    std::vector<std::string> files = sources;
    for (const CompileCommand& each : commands) files.push_back(each.file);
    return as_files_name_it(absolute_name(options.root), files);
  }
  if (!sources.empty()) {
    // A configuration that inherits marks no project of its own.
    const std::string marked = source::project_root(sources.front());
    if (marked == options.config_folder) return options.config_root;
    if (is_marked(marked)) return marked;
    if (database.empty()) return python_project(sources);
    // The same files have the same names as in a run over all of them.
    const std::string project = project_of(database, commands);
    return below(sources.front(), project) ? project : marked;
  }
  return database.empty() ? python_project({absolute_name("any")}) : project_of(database, commands);
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

CompileCommand python_command(const std::string& file) { return {fs::current_path().string(), file, {}}; }

// C++ outside the project would be passed over in silence.
void refuse_outside(const std::vector<std::string>& sources, const UserCode& user_code) {
  for (const std::string& each : sources) {
    if (is_pattern(each) || source::is_python(each) || user_code.contains(each)) continue;
    throw UsageError(fmt::format(
        "'{}' is not below the project's folder '{}'; name a folder that holds both with --root, or run "
        "dtype-lint on each project by itself",
        each, user_code.root()));
  }
}

SourceList with_flags(const Options& options, const std::vector<std::string>& sources) {
  if (sources.empty()) throw UsageError("compiler flags were given after --, but no source file before it");
  SourceList list;
  list.user_code = user_code_of(options, root_of(options, sources, "", {}), sources, "", {});
  refuse_outside(sources, list.user_code);
  for (const std::string& source : sources) {
    CompileCommand command = python_command(source);
    const bool language =
        std::find(options.flags->begin(), options.flags->end(), "-x") != options.flags->end();
    if (!source::is_python(source)) {
      command.arguments = {source.ends_with(".c") ? "cc" : "c++"};  // what a compiler driver takes it for
      if (is_header(source) && !language) command.arguments.insert(command.arguments.end(), {"-x", "c++"});
      command.arguments.insert(command.arguments.end(), options.flags->begin(), options.flags->end());
    }
    list.commands.push_back(std::move(command));
  }
  if (std::all_of(sources.begin(), sources.end(), is_header)) {
    list.headers = report_names(sources, list.user_code);
    list.carriers = {list.headers.begin(), list.headers.end()};
  }
  return list;
}

// What the disk has of folders and globs, and of the whole project where nothing is named.
class OnDisk {
 public:
  OnDisk(const std::vector<std::string>& sources, SourceList& list) : list_(list) {
    if (sources.empty()) look_below(list.user_code.root() + "/*");
    for (const std::string& each : sources) {
      if (is_pattern(each)) {
        look_below(each);
      } else if (source::is_python(each)) {
        add(each);
      }
    }
  }
  const std::set<std::string>& cxx() const { return cxx_; }

 private:
  void add(const std::string& file) {
    if (seen_.insert(file).second) list_.commands.push_back(python_command(file));
  }
  void look_below(const std::string& pattern) {
    const FoundFiles found = files_matching(pattern);
    for (const std::string& each : found.python) {
      if (!list_.user_code.contains(each)) continue;
      list_.python_patterns.insert(pattern);
      add(each);
    }
    for (const std::string& each : found.cxx) {
      if (list_.user_code.contains(each)) cxx_.insert(each);
    }
  }

  SourceList& list_;
  std::set<std::string> seen_, cxx_;
};

// C++ is what the database builds; without one it is listed, which is a failure where it was named.
void add_cxx(const std::vector<std::string>& sources, const std::set<std::string>& on_disk,
             SourceList& list) {
  const std::string why = no_database(sources);
  for (const std::string& each : sources) {
    if (is_pattern(each) || source::is_python(each)) continue;
    list.missing.push_back({list.user_code.report_name(each), "", "no-command", why});
  }
  for (const std::string& each : on_disk) {
    list.not_built.push_back({list.user_code.report_name(each), "", "no-database", why});
  }
  if (!list.commands.empty()) return;
  if (!list.missing.empty() || !on_disk.empty()) throw UsageError(why);
  throw UsageError(
      fmt::format("no Python file that git does not ignore below '{}', and {}", list.user_code.root(), why));
}

SourceList from_project(const Options& options, std::vector<std::string> sources) {
  SourceList list;
  const bool only_python =
      !sources.empty() && std::all_of(sources.begin(), sources.end(),
                                      [](const std::string& each) { return source::is_python(each); });
  const std::optional<std::string> found = only_python ? std::nullopt : database_folder(options, sources);
  const std::string database = found.value_or("");
  const std::vector<CompileCommand> all = found ? read_database(database) : std::vector<CompileCommand>();
  if (found) {
    for (std::string& each : sources) each = name_in_database(each, all);
  }
  list.user_code = user_code_of(options, root_of(options, sources, database, all), sources, database, all);
  if (found) refuse_outside(sources, list.user_code);
  const OnDisk on_disk(sources, list);
  if (!found) {
    add_cxx(sources, on_disk.cxx(), list);
    return list;
  }
  if (!sources.empty()) {
    std::erase_if(sources,
                  [](const std::string& each) { return source::is_python(each) && !is_pattern(each); });
    add_named(sources, all, database, options, list);
    return list;
  }
  std::copy_if(all.begin(), all.end(), std::back_inserter(list.commands),
               [&](const CompileCommand& each) { return is_users_source(each, database, list.user_code); });
  if (list.commands.empty()) {
    throw UsageError(fmt::format(
        "{}/compile_commands.json names no source below '{}'{}, and no Python file is there; name "
        "the project folder with --root",
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
    if (source::is_python(each.file)) return !seen.emplace(each.file, std::vector<std::string>()).second;
    return !seen.emplace(each.directory, clang_front_end::adjusted_command(each, lowering.extra_arguments))
                .second;
  });
}

void expect_clangs_headers(const SourceList& list) {
  const bool needed = std::any_of(list.commands.begin(), list.commands.end(),
                                  [](const CompileCommand& each) { return !source::is_python(each.file); });
  if (!needed || !clang_front_end::is_built_in() || !clang_front_end::resource_directory().empty()) return;
  std::string places;
  for (const std::string& each : clang_front_end::resource_directories_looked_in()) places += "\n  " + each;
  throw UsageError(
      fmt::format("Clang's own headers (stddef.h and the like) are not where they were looked "
                  "for:{}\ninstall the package libclang-common-dev of Clang {}, or name the "
                  "folder in DTYPE_LINT_RESOURCE_DIR",
                  places, clang_front_end::llvm_version()));
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

std::vector<NotAnalysed> not_looked_at(const SourceList& sources) {
  std::vector<NotAnalysed> all = sources.missing;
  all.insert(all.end(), sources.not_built.begin(), sources.not_built.end());
  return all;
}

SourceList find_sources(const Options& options) {
  const std::vector<std::string> sources = checked_sources(options);
  SourceList list = options.flags ? with_flags(options, sources) : from_project(options, sources);
  expect_clangs_headers(list);
  drop_equal_commands(list, options);
  return list;
}

void take_standard_input(const Options& options, SourceList& sources) {
  if (options.stdin_file.empty()) return;
  std::ostringstream text;
  text << std::cin.rdbuf();
  sources.texts[options.stdin_file] = text.str();
}

}  // namespace dtype_guard::driver
