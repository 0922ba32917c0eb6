// Reading compile_commands.json.
#include "analyzer/clang/commands/compile_database.h"

#include <clang/Tooling/JSONCompilationDatabase.h>
#include <fmt/format.h>

#include <filesystem>

#include "analyzer/source/response_file.h"
#include "rules/files/input_file.h"

namespace dtype_guard::clang_front_end {

namespace fs = std::filesystem;

std::vector<CompileCommand> read_compile_database(const std::string& folder) {
  const fs::path file = fs::path(folder) / "compile_commands.json";
  std::error_code error;
  if (fs::is_symlink(file, error) && !fs::exists(file, error)) {
    throw CompileDatabaseError(
        fmt::format("{} is a link to '{}', which is not there; configure the project again to write it",
                    file.string(), fs::read_symlink(file, error).string()));
  }
  if (!fs::exists(file, error)) {
    if (error) throw CompileDatabaseError(fmt::format("cannot read {}: {}", file.string(), error.message()));
    throw CompileDatabaseError(fmt::format(
        "no compile_commands.json in '{}'; configure the project with "
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON and name its build folder with -p, or give the compiler "
        "flags after --",
        folder));
  }
  const InputFile input = read_input(file);
  if (const std::string& found = input.found; !found.empty()) {
    throw CompileDatabaseError(
        fmt::format("{} is {}; a file that CMake wrote was expected", file.string(), found));
  }
  // Clang's reader would show all of it.
  if (input.text.find('\0') != std::string::npos) {
    throw CompileDatabaseError(fmt::format(
        "{} is not UTF-8 text: it holds NUL bytes, as UTF-16 does; write it in UTF-8", file.string()));
  }
  std::string problem;
  const auto database = clang::tooling::JSONCompilationDatabase::loadFromBuffer(
      input.text, problem, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (!database) {
    throw CompileDatabaseError(
        fmt::format("{} is not a compile database: {}; configure the project again to write "
                    "a new one",
                    file.string(), problem));
  }
  const fs::path base = fs::absolute(folder);
  std::vector<CompileCommand> commands;
  for (const clang::tooling::CompileCommand& each : database->getAllCompileCommands()) {
    // A folder that is no absolute one is meant from where the database stands.
    const bool relative = fs::path(each.Directory).is_relative();
    const std::string directory =
        relative ? (base / each.Directory).lexically_normal().string() : each.Directory;
    const fs::path source = fs::path(directory) / each.Filename;
    commands.push_back({directory, source.lexically_normal().string(),
                        source::with_response_files(each.CommandLine, directory)});
  }
  return commands;
}

std::optional<std::string> find_compile_database(const std::string& source) {
  std::error_code error;
  for (fs::path folder = fs::path(source).lexically_normal().parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    for (const fs::path& candidate : {folder, folder / "build"}) {
      if (fs::exists(candidate / "compile_commands.json", error)) return candidate.string();
    }
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

}  // namespace dtype_guard::clang_front_end
