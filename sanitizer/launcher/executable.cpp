#include "sanitizer/launcher/executable.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

namespace dtype_guard::san {
namespace {

std::string read_start(const std::string& path, std::size_t count) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(count, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

std::string find_in_path(const std::string& command, bool& found_unstartable) {
  if (command.find('/') != std::string::npos) return command;
  const char* variable = std::getenv("PATH");
  std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t start = 0; start <= path.size();) {
    std::size_t end = std::min(path.find(':', start), path.size());
    std::string folder = path.substr(start, end - start);
    std::string candidate = (folder.empty() ? "." : folder) + "/" + command;
    struct stat status = {};
    if (stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      found_unstartable = true;
    }
    start = end + 1;
  }
  return "";
}

// The interpreter named by "#!", or empty.
std::string script_interpreter(const std::string& bytes) {
  if (bytes.compare(0, 2, "#!") != 0) return "";
  std::size_t start = bytes.find_first_not_of(" \t", 2);
  if (start == std::string::npos) return "";
  return bytes.substr(start, bytes.find_first_of(" \t\n", start) - start);
}

// The loader ignores LD_PRELOAD where privileges are raised.
std::string privilege_problem(const std::string& path, const struct stat& status) {
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return "is set-uid";
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) return "is set-gid";
  if (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "has file capabilities";
  return "";
}

CommandCheck refuse(int status, const std::string& path, std::string problem) {
  return {status, fmt::format("'{}' {}", path, problem), path};
}

CommandCheck check_file(const std::string& path, const ElfIdentity& library, int depth) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0)
    return refuse(errno == ENOENT || errno == ENOTDIR ? 127 : 126, path,
                  fmt::format("cannot be started: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) return refuse(126, path, "cannot be started: is a directory");
  if (access(path.c_str(), X_OK) != 0) return refuse(126, path, "cannot be started: permission denied");
  if (std::string raised = privilege_problem(path, status); !raised.empty())
    return refuse(126, path,
                  raised + ": the dynamic loader preloads nothing into it; run it without dtype-san");
  std::string bytes = read_start(path, 4096);
  if (bytes.empty()) return {0, "", path};  // unreadable but executable: the kernel may still start it
  std::string interpreter = script_interpreter(bytes);
  if (!interpreter.empty() && depth < 4) {
    CommandCheck inner = check_file(interpreter, library, depth + 1);
    if (inner.status != 0)
      inner.problem = fmt::format("'{}' is a script, and its interpreter {}", path, inner.problem);
    inner.path = path;
    return inner;
  }
  std::string problem;
  std::optional<ElfIdentity> program = read_elf(path, problem);
  if (!program) return {0, "", path};  // a script without "#!": execvp gives it to the shell
  if (!program->same_architecture(library))
    return refuse(126, path,
                  fmt::format("is a {} program, the preload library is {}: use the dtype-san of that "
                              "architecture",
                              program->describe(), library.describe()));
  if (program->interpreter.empty())
    return refuse(126, path,
                  "is statically linked: it has no dynamic loader that could preload a library; link it "
                  "dynamically to watch it");
  if (program->interpreter.find("musl") != std::string::npos)
    return refuse(126, path,
                  fmt::format("runs on musl ({}), the preload library needs glibc", program->interpreter));
  return {0, "", path};
}

}  // namespace

CommandCheck check_command(const std::string& command, const ElfIdentity& library) {
  bool found_unstartable = false;
  std::string path = find_in_path(command, found_unstartable);
  if (path.empty() && found_unstartable) return refuse(126, command, "cannot be started: permission denied");
  if (path.empty()) return refuse(127, command, "was not found in PATH; name the program to run after 'run'");
  return check_file(path, library, 0);
}

}  // namespace dtype_guard::san
