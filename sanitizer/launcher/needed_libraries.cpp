#include "sanitizer/launcher/needed_libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace dtype_guard::san {
namespace {

template <typename T>
std::optional<T> read_at(std::ifstream& in, std::uint64_t offset) {
  T value;
  in.seekg(static_cast<std::streamoff>(offset));
  if (!in.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
  return value;
}

struct Segments {
  std::vector<Elf64_Phdr> list;

  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& one : list)
      if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz)
        return one.p_offset + (address - one.p_vaddr);
    return std::nullopt;
  }
};

Segments read_segments(std::ifstream& in) {
  Segments segments;
  auto header = read_at<Elf64_Ehdr>(in, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return segments;
  for (unsigned i = 0; i < header->e_phnum; ++i)
    if (auto segment = read_at<Elf64_Phdr>(in, header->e_phoff + std::uint64_t{i} * header->e_phentsize))
      segments.list.push_back(*segment);
  return segments;
}

std::string text_at(std::ifstream& in, std::uint64_t offset) {
  constexpr std::size_t kLongest = 256;
  char text[kLongest] = {};
  in.clear();
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(text, kLongest - 1);
  in.clear();
  return text;
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Segments segments = read_segments(in);
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> strings;
  for (const Elf64_Phdr& segment : segments.list) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      auto entry = read_at<Elf64_Dyn>(in, segment.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) strings = segments.offset_of(entry->d_un.d_ptr);
    }
  }
  std::vector<std::string> result;
  for (std::uint64_t name : names)
    if (strings) result.push_back(text_at(in, *strings + name));
  return result;
}

std::string address_sanitizer_of(const std::string& path) {
  for (const std::string& library : needed_libraries(path))
    if (std::string_view(library).starts_with("libasan.so") ||
        std::string_view(library).starts_with("libclang_rt.asan"))
      return library;
  return "";
}

std::vector<std::string> linked_files(const std::string& path, const std::string& loader) {
  std::vector<std::string> files;
  int ends[2];
  if (loader.empty() || pipe2(ends, O_CLOEXEC) != 0) return files;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string words[] = {loader, "--list", path};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const bool started = posix_spawn(&child, loader.c_str(), &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  if (started) (void)waitpid(child, nullptr, 0);
  // "NAME => FILE (ADDRESS)"
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => /"), end = line.rfind(" (");
    if (arrow != std::string::npos && end != std::string::npos && end > arrow)
      files.push_back(line.substr(arrow + 4, end - arrow - 4));
  }
  return files;
}

}  // namespace dtype_guard::san
