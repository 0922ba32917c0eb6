// Files that a user named to be read. What is no regular file (a named pipe without a writer, a device) must
// not make a command hang or fill its memory.
#pragma once

#include <filesystem>
#include <string>

namespace dtype_guard {

struct InputFile {
  std::string text;
  std::string
      found;  // what stands there instead of a file that can be read: "a folder"; empty when it was read
};

// A descriptor that the shell handed over ("/dev/stdin", "/dev/fd/63" of "<(command)") is read as well, and
// /dev/null is empty.
InputFile read_input(const std::filesystem::path& file);

// What stands there that would not be read: "a named pipe"; empty for a file, for what read_input() takes
// besides, and for nothing.
std::string not_a_file(const std::filesystem::path& file);

}  // namespace dtype_guard
