// Command lines as Clang takes them. A compile database is usually written for GCC; its flags that Clang does
// not know would be errors, and none of them has a bearing on dtypes.
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Program.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "analyzer/clang/front_end.h"
#include "analyzer/clang/known_options.h"
#include "analyzer/clang/nvcc.h"
#include "analyzer/clang/standard_headers.h"

namespace dtype_guard::clang_front_end {

namespace {

// Flags that are dropped with the argument that follows them.
constexpr std::array<std::string_view, 7> kDroppedWithValue = {
    "-o", "-MF", "-MT", "-MQ", "-MJ", "--param", "--serialize-diagnostics"};
constexpr std::array<std::string_view, 8> kDropped = {"-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP"};
// A word after one of these is its value, whatever it looks like.
constexpr std::array<std::string_view, 10> kKeptWithValue = {
    "-Xclang", "-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-D", "-U", "-x"};
// Of -f and -m flags only those stay that change what the source means.
constexpr std::array<std::string_view, 24> kKeptPrefixes = {"-fexceptions",    "-fno-exceptions",
                                                            "-frtti",          "-fno-rtti",
                                                            "-fopenmp",        "-fchar8_t",
                                                            "-fno-char8_t",    "-fsigned-char",
                                                            "-funsigned-char", "-fms-extensions",
                                                            "-fshort-enums",   "-fmodule",
                                                            "-fno-builtin",    "-ffreestanding",
                                                            "-fcoroutines",    "-fconcepts",
                                                            "-fconstexpr-",    "-ftemplate-depth",
                                                            "-fpermissive",    "-fsized-deallocation",
                                                            "-fms-compat",     "-fPIC",
                                                            "-march=",         "-mavx"};
constexpr std::array<std::string_view, 10> kKeptMachine = {"-mfma",  "-mf16c",  "-msse", "-m32",  "-m64",
                                                           "-mcpu=", "-mtune=", "-mno-", "-mbmi", "-mlzcnt"};

template <class List>
bool starts_with_any(std::string_view argument, const List& prefixes) {
  for (std::string_view each : prefixes) {
    if (argument.starts_with(each)) return true;
  }
  return false;
}

template <class List>
bool is_any(std::string_view argument, const List& list) {
  for (std::string_view each : list) {
    if (argument == each) return true;
  }
  return false;
}

bool is_foreign(std::string_view argument) {
  if (argument.starts_with("-W") && !argument.starts_with("-Wp,")) return true;
  if (argument.starts_with("-pedantic")) return true;
  if (!argument.starts_with("-f") && !argument.starts_with("-m")) return false;
  return !starts_with_any(argument, kKeptPrefixes) && !starts_with_any(argument, kKeptMachine);
}

}  // namespace

std::vector<std::string> resource_directories_looked_in() {
  const std::string major = std::to_string(LLVM_VERSION_MAJOR);
  std::vector<std::string> folders;
  if (const char* named = std::getenv("DTYPE_LINT_RESOURCE_DIR")) folders.emplace_back(named);
  folders.emplace_back(DTYPE_GUARD_CLANG_RESOURCE_DIR);
  folders.push_back("/usr/lib/llvm-" + major + "/lib/clang/" + major);
  folders.push_back("/usr/lib/clang/" + major);
  folders.push_back("/usr/local/lib/clang/" + major);
  return folders;
}

std::string resource_directory() {
  for (const std::string& folder : resource_directories_looked_in()) {
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::path(folder) / "include" / "stddef.h", error)) return folder;
  }
  return {};
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

namespace {

// "ccache g++ ..." compiles with g++.
std::vector<std::string> without_launcher(std::vector<std::string> arguments) {
  static constexpr std::array<std::string_view, 5> kLaunchers = {"ccache", "sccache", "distcc", "icecc",
                                                                 "buildcache"};
  while (arguments.size() > 1 && !arguments[1].starts_with("-") &&
         is_any(std::filesystem::path(arguments[0]).filename().string(), kLaunchers)) {
    arguments.erase(arguments.begin());
  }
  return arguments;
}

// Outputs and what only other compilers know; values stay with their options.
std::vector<std::string> without_foreign(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (is_any(argument, kDroppedWithValue)) {
      ++i;
      continue;
    }
    const bool output = argument.starts_with("-o") && argument.size() > 2;
    if (output || is_any(argument, kDropped) || is_foreign(argument)) continue;
    kept.push_back(argument);
    if (is_any(argument, kKeptWithValue) && i + 1 < arguments.size()) kept.push_back(arguments[++i]);
  }
  return kept;
}

}  // namespace

std::vector<std::string> adjusted_command(const CompileCommand& command, const LoweringOptions& options) {
  std::vector<std::string> written = without_launcher(command.arguments);
  const std::string compiler = written.empty() ? "c++" : written.front();
  if (!written.empty()) written.erase(written.begin());
  if (is_nvcc(compiler)) written = translate_nvcc(written, command.directory);
  // The source has no place among the options; it is added under its own name.
  std::vector<std::string> known = known_options(without_foreign(written));
  std::vector<std::string> adjusted = {compiler.ends_with("cc") || compiler.ends_with("clang") ? "clang"
                                                                                               : "clang++"};
  if (is_nvcc(compiler)) adjusted.front() = "clang++";
  adjusted.insert(adjusted.end(), known.begin(), known.end());
  adjusted.insert(adjusted.end(), options.extra_arguments.begin(), options.extra_arguments.end());
  if (is_cuda(command.file, adjusted)) {
    const std::vector<std::string> more = cuda_arguments(compiler, adjusted);
    adjusted.insert(adjusted.end(), more.begin(), more.end());
  }
  const std::vector<std::string> standard = standard_arguments(adjusted);
  adjusted.insert(adjusted.end(), standard.begin(), standard.end());
  adjusted.insert(adjusted.end(), {"-fsyntax-only", "-w", "-Qunused-arguments", "-ferror-limit=0",
                                   "-resource-dir=" + resource_directory(), "--", command.file});
  return adjusted;
}

}  // namespace dtype_guard::clang_front_end
