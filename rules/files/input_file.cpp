#include "rules/files/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace dtype_guard {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;

// What the shell opened for this process, under whatever name.
bool is_descriptor(const std::filesystem::path& file) {
  const std::string name = std::filesystem::absolute(file).lexically_normal().string();
  if (name == "/dev/stdin") return true;
  const bool process = name.starts_with("/proc/") && name.find("/fd/") != std::string::npos;
  return process || name.starts_with("/dev/fd/");
}

std::string_view kind_of(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return "a folder";
  if (S_ISFIFO(info.st_mode)) return "a named pipe";
  if (S_ISSOCK(info.st_mode)) return "a socket";
  return S_ISREG(info.st_mode) ? "" : "a device";
}

std::string unreadable(int problem) { return fmt::format("no readable file ({})", std::strerror(problem)); }

}  // namespace

std::string not_a_file(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return "";
  const std::string name = file.lexically_normal().string();
  const bool taken = !S_ISDIR(info.st_mode) && (name == "/dev/null" || is_descriptor(file));
  return std::string(taken ? "" : kind_of(info));
}

InputFile read_input(const std::filesystem::path& file) {
  InputFile out;
  out.found = not_a_file(file);
  if (!out.found.empty()) return out;
  const int from = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    out.found = unreadable(errno);
    return out;
  }
  std::array<char, 1 << 16> part{};
  while (out.found.empty()) {
    const ssize_t size = ::read(from, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) out.found = unreadable(errno);
    if (size <= 0) break;
    out.text.append(part.data(), static_cast<std::size_t>(size));
    if (out.text.size() > kLargest) out.found = "more than 1 GiB of text";
  }
  ::close(from);
  return out;
}

}  // namespace dtype_guard
