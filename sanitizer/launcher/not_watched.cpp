#include "sanitizer/launcher/not_watched.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

#include "sanitizer/protocol/notes.h"

namespace dtype_guard::san {

namespace fs = std::filesystem;

namespace {

// Of a process that has ended and of another user's nothing can be read.
bool was_started_with(const fs::path& process, std::string_view entry) {
  std::ifstream in(process / "environ", std::ios::binary);
  const std::string variables = '\0' + std::string(std::istreambuf_iterator<char>(in), {});
  return variables.find(entry) != std::string::npos;
}

std::vector<pid_t> started_with(const std::string& variable) {
  const std::string entry = '\0' + variable + '\0';
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t pid = 0;
    const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem != std::errc() || rest != name.data() + name.size() || pid == getpid()) continue;
    if (was_started_with(at->path(), entry)) found.push_back(pid);
  }
  return found;
}

}  // namespace

std::vector<pid_t> still_running(const std::string& variable) {
  constexpr std::chrono::milliseconds kPause(25);
  constexpr int kPauses = 20;
  std::vector<pid_t> found = started_with(variable);
  for (int i = 0; i < kPauses && !found.empty(); ++i) {
    std::this_thread::sleep_for(kPause);
    found = started_with(variable);
  }
  return found;
}

std::string runs_on(std::size_t processes) {
  return processes == 1
             ? "1 process that the command started runs on: what it calls from here on is not in this report"
             : fmt::format(
                   "{} processes that the command started run on: what they call from here on is not in this "
                   "report",
                   processes);
}

std::string programs_without_library(const Report& report) {
  std::uint64_t programs = 0;
  for (const NotAnalysed& entry : report.not_analysed) {
    if (entry.detail.find(kBareChildren) == std::string::npos) continue;
    std::uint64_t some = 0;
    std::from_chars(entry.detail.data(), entry.detail.data() + entry.detail.size(), some);
    programs += some;
  }
  if (programs == 0) return "";
  return fmt::format("; not watched: {} started without libdtype_san.so in LD_PRELOAD",
                     programs == 1 ? "1 program" : fmt::format("{} programs", programs));
}

}  // namespace dtype_guard::san
