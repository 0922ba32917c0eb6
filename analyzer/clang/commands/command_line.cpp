// Command lines as Clang takes them. A compile database is usually written for GCC; its flags that Clang does
// not know would be errors, and none of them has a bearing on dtypes.
#include "analyzer/clang/commands/command_line.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Program.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "analyzer/clang/commands/compiler_headers.h"
#include "analyzer/clang/commands/known_options.h"
#include "analyzer/clang/commands/nvcc.h"
#include "analyzer/clang/commands/standard_headers.h"

namespace dtype_guard::clang_front_end {

namespace {

// Flags that are dropped with the argument that follows them.
constexpr std::array<std::string_view, 8> kDroppedWithValue = {
    "-o", "-MF", "-MT", "-MQ", "-MJ", "-arch", "--param", "--serialize-diagnostics"};
// Of Clang's inner options, with their values: precompiled headers of another Clang (CMake names the header
// as well), and plugins.
constexpr std::array<std::string_view, 4> kDroppedInner = {"-include-pch", "-load", "-add-plugin", "-plugin"};
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

// An installation carries the headers, and is found from the program: it may have been moved.
static std::string installed_resource_directory() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / DTYPE_GUARD_INSTALLED_RESOURCES).lexically_normal().string();
}

std::vector<std::string> resource_directories_looked_in() {
  const std::string major = std::to_string(LLVM_VERSION_MAJOR);
  std::vector<std::string> folders;
  if (const char* named = std::getenv("DTYPE_LINT_RESOURCE_DIR")) folders.emplace_back(named);
  folders.push_back(installed_resource_directory());
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

// "ccache g++ ..." compiles with g++, "env A=B nvcc ..." with nvcc.
std::vector<std::string> without_launcher(std::vector<std::string> arguments) {
  const auto nvcc = std::find_if(arguments.begin(), arguments.end(), is_nvcc);
  if (nvcc != arguments.end()) arguments.erase(arguments.begin(), nvcc);
  static constexpr std::array<std::string_view, 5> kLaunchers = {"ccache", "sccache", "distcc", "icecc",
                                                                 "buildcache"};
  while (arguments.size() > 1 && !arguments[1].starts_with("-") &&
         is_any(std::filesystem::path(arguments[0]).filename().string(), kLaunchers)) {
    arguments.erase(arguments.begin());
  }
  return arguments;
}

// GCC knows processors that Clang does not, and a cross compiler those of another machine. Which one it is
// has a bearing on macros at most.
bool is_unknown_processor(std::string_view argument) {
  static const bool x86 = llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86();
  const std::size_t equals = argument.find('=');
  if (!x86 || equals == std::string_view::npos) return false;
  const std::string_view option = argument.substr(0, equals);
  const llvm::StringRef name(argument.data() + equals + 1, argument.size() - equals - 1);
  if (option == "-mcpu") return true;
  if (option != "-march" && option != "-mtune") return false;
  return name != "native" && llvm::X86::parseTuneCPU(name) == llvm::X86::CK_None &&
         llvm::X86::parseArchX86(name) == llvm::X86::CK_None;
}

// Outputs and what only other compilers know; values stay with their options.
std::vector<std::string> without_foreign(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  const bool for_this_machine = std::none_of(arguments.begin(), arguments.end(), [](const std::string& each) {
    return each == "-target" || each.starts_with("--target");
  });
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (for_this_machine && is_unknown_processor(argument)) continue;
    if (is_any(argument, kDroppedWithValue)) {
      ++i;
      continue;
    }
    const bool inner = argument == "-Xclang" && i + 3 < arguments.size() && arguments[i + 2] == "-Xclang";
    if (inner && (is_any(arguments[i + 1], kDroppedInner) || arguments[i + 1].starts_with("-plugin-arg-"))) {
      i += 3;
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

std::string compiler_of(const CompileCommand& command) {
  const std::vector<std::string> written = without_launcher(command.arguments);
  return written.empty() ? "c++" : written.front();
}

std::vector<std::string> adjusted_command(const CompileCommand& command,
                                          const std::vector<std::string>& extra_arguments) {
  std::vector<std::string> written = without_launcher(command.arguments);
  const std::string compiler = compiler_of(command);
  if (!written.empty()) written.erase(written.begin());
  if (is_nvcc(compiler)) written = translate_nvcc(written, command.directory);
  // The source has no place among the options; it is added under its own name.
  std::vector<std::string> known = known_options(without_foreign(written));
  std::vector<std::string> adjusted = {compiler.ends_with("cc") || compiler.ends_with("clang") ? "clang"
                                                                                               : "clang++"};
  if (is_nvcc(compiler)) adjusted.front() = "clang++";
  adjusted.insert(adjusted.end(), known.begin(), known.end());
  adjusted.insert(adjusted.end(), extra_arguments.begin(), extra_arguments.end());
  if (is_cuda(command.file, adjusted)) {
    const std::vector<std::string> more = cuda_arguments(compiler, adjusted);
    adjusted.insert(adjusted.end(), more.begin(), more.end());
  } else if (is_nvcc(compiler)) {
    const std::vector<std::string> more = nvcc_host_arguments(compiler);
    adjusted.insert(adjusted.end(), more.begin(), more.end());
  }
  const std::vector<std::string> standard = standard_arguments(adjusted);
  adjusted.insert(adjusted.end(), standard.begin(), standard.end());
  const std::vector<std::string> compilers = compiler_arguments(compiler, resource_directory());
  adjusted.insert(adjusted.end(), compilers.begin(), compilers.end());
  adjusted.insert(adjusted.end(), {"-fsyntax-only", "-w", "-Qunused-arguments", "-ferror-limit=0",
                                   "-resource-dir=" + resource_directory(), "--", command.file});
  return adjusted;
}

}  // namespace dtype_guard::clang_front_end
