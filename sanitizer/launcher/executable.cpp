#include "sanitizer/launcher/executable.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

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

template <typename Header, typename Segment>
void read_headers(const std::string& path, const std::string& bytes, ElfIdentity& identity) {
  Header header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  identity.is_shared_object = header.e_type == ET_DYN;
  std::ifstream in(path, std::ios::binary);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    in.seekg(static_cast<std::streamoff>(header.e_phoff + std::uint64_t{i} * header.e_phentsize));
    if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) return;
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
    identity.interpreter.resize(segment.p_filesz - 1);
    in.seekg(static_cast<std::streamoff>(segment.p_offset));
    in.read(identity.interpreter.data(), static_cast<std::streamsize>(identity.interpreter.size()));
    identity.interpreter.resize(std::strlen(identity.interpreter.c_str()));  // it may be padded
    return;
  }
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

std::string ElfIdentity::describe() const {
  std::string name;
  switch (machine) {
    case EM_X86_64:
      name = "x86-64";
      break;
    case EM_AARCH64:
      name = "aarch64";
      break;
    case EM_386:
      name = "i386";
      break;
    case EM_ARM:
      name = "arm";
      break;
    case EM_RISCV:
      name = "riscv";
      break;
    case EM_PPC64:
      name = "ppc64";
      break;
    default:
      name = fmt::format("machine {}", machine);
  }
  return fmt::format("{}-bit {}", is_64_bit ? 64 : 32, name);
}

std::optional<ElfIdentity> read_elf(const std::string& path, std::string& problem) {
  std::string bytes = read_start(path, sizeof(Elf64_Ehdr));
  if (bytes.size() < EI_NIDENT + 4 || bytes.compare(0, SELFMAG, ELFMAG) != 0) {
    problem = bytes.empty() ? "it is empty or cannot be read" : "it is no ELF file";
    return std::nullopt;
  }
  ElfIdentity identity;
  identity.is_64_bit = bytes[EI_CLASS] == ELFCLASS64;
  identity.is_little_endian = bytes[EI_DATA] == ELFDATA2LSB;
  std::memcpy(&identity.machine, bytes.data() + EI_NIDENT + 2, sizeof identity.machine);
  if (identity.is_64_bit) {
    read_headers<Elf64_Ehdr, Elf64_Phdr>(path, bytes, identity);
  } else {
    read_headers<Elf32_Ehdr, Elf32_Phdr>(path, bytes, identity);
  }
  return identity;
}

CommandCheck check_command(const std::string& command, const ElfIdentity& library) {
  bool found_unstartable = false;
  std::string path = find_in_path(command, found_unstartable);
  if (path.empty() && found_unstartable) return refuse(126, command, "cannot be started: permission denied");
  if (path.empty()) return refuse(127, command, "was not found in PATH; name the program to run after 'run'");
  return check_file(path, library, 0);
}

}  // namespace dtype_guard::san
