#include "sanitizer/launcher/needed_libraries.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <sstream>
#include <string_view>

#include "sanitizer/elf/elf_file.h"

namespace dtype_guard::san {

std::vector<std::string> needed_libraries(const std::string& path) {
  constexpr std::uint64_t kLongest = 4096;
  const ElfFile file(path);
  const std::vector<GElf_Phdr> segments = file.segments();
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> strings;
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    Elf_Data* table = elf_getdata_rawchunk(file.get(), static_cast<std::int64_t>(segment.p_offset),
                                           segment.p_filesz, ELF_T_DYN);
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(table, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = offset_of(segments, entry.d_un.d_ptr);
    }
  }
  std::vector<std::string> result;
  for (std::uint64_t name : names)
    if (strings) result.push_back(file.text_at(*strings + name, kLongest));
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
