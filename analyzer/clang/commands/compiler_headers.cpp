#include "analyzer/clang/commands/compiler_headers.h"

#include <fmt/format.h>
#include <llvm/Support/Program.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <tuple>
#include <utility>

#include "analyzer/clang/commands/nvcc.h"

namespace dtype_guard::clang_front_end {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFolder = "/dtype-lint/compiler_headers";

// "12" of "x86_64-linux-gnu-g++-12"; empty where a name has no version.
std::string version_in(const std::string& name) {
  const std::size_t dash = name.find_last_of('-');
  const bool is_number =
      dash != std::string::npos && name.find_first_not_of("0123456789.", dash + 1) == std::string::npos;
  return is_number ? name.substr(dash + 1) : "";
}

// Where the program stands, through all links; where it is not on this machine, what stands for it here.
fs::path program_of(const std::string& compiler) {
  std::error_code error;
  std::string found = is_nvcc(compiler) ? "c++" : compiler;
  if (found.find('/') == std::string::npos) {
    if (const auto in_path = llvm::sys::findProgramByName(found)) found = *in_path;
  }
  const fs::path program = fs::canonical(found, error);
  return error ? fs::path("/usr/bin/c++") : program;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->is_directory(gone)) out.push_back(at->path());
  }
  return out;
}

// The folder of its own headers: of GCC in lib/gcc/MACHINE/VERSION, of Clang in lib/clang/VERSION.
fs::path own_headers(const std::string& compiler) {
  const fs::path program = program_of(compiler);
  const std::string name = program.filename().string();
  const std::string version = version_in(name);
  const bool is_clang = name.find("clang") != std::string::npos;
  const auto better = [&](const fs::path& a, const fs::path& b) {
    const auto key = [&](const fs::path& each) {
      return std::tuple((each.parent_path().filename() == "clang") == is_clang, each.filename() == version,
                        std::atoi(each.filename().c_str()), each);
    };
    return key(a) > key(b);
  };
  fs::path best;
  for (const char* lib : {"lib", "lib64"}) {
    const fs::path folder = program.parent_path().parent_path() / lib;
    std::vector<fs::path> homes = folders_in(folder / "gcc");
    homes.push_back(folder / "clang");
    for (const fs::path& home : homes) {
      for (const fs::path& each : folders_in(home)) {
        std::error_code error;
        if (!fs::is_directory(each / "include", error)) continue;
        if (best.empty() || better(each, best)) best = each;
      }
    }
  }
  return best.empty() ? best : best / "include";
}

struct OwnHeaders {
  std::string folder;                        // where they are looked for; empty: there are none
  std::map<std::string, std::string> texts;  // by absolute path
};

OwnHeaders find_headers(const std::string& compiler, const fs::path& clang) {
  OwnHeaders out;
  const fs::path own = own_headers(compiler);
  std::error_code error;
  if (own.empty() || fs::equivalent(own, clang, error)) return out;
  for (fs::directory_iterator at(own, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string name = at->path().filename().string();
    if (!at->is_regular_file(gone) || fs::exists(clang / name, gone)) continue;
    out.folder = kFolder + own.string();
    out.texts[fmt::format("{}/{}", out.folder, name)] = fmt::format("#include \"{}\"\n", at->path().string());
  }
  return out;
}

const OwnHeaders& headers_of(const std::string& compiler, const std::string& clang) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, OwnHeaders> known;
  const std::lock_guard lock(mutex);
  const auto [found, fresh] = known.try_emplace({compiler, clang});
  if (fresh) found->second = find_headers(compiler, fs::path(clang) / "include");
  return found->second;
}

}  // namespace

std::vector<std::string> compiler_arguments(const std::string& compiler, const std::string& clang) {
  const std::string& folder = headers_of(compiler, clang).folder;
  return folder.empty() ? std::vector<std::string>{} : std::vector<std::string>{"-idirafter", folder};
}

std::map<std::string, std::string> compiler_headers(const std::string& compiler, const std::string& clang) {
  return headers_of(compiler, clang).texts;
}

}  // namespace dtype_guard::clang_front_end
