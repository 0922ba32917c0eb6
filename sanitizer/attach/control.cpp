#include "sanitizer/attach/control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "sanitizer/attach/stopped_thread.h"
#include "sanitizer/protocol/control_page.h"

namespace dtype_guard::san {
namespace {

namespace fs = std::filesystem;

std::string mapped_name() { return fmt::format("/memfd:{}", kControlName); }

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

void require_living(const ProcessFacts& process) {
  if (has_ended(process.pid))
    throw AttachError{fmt::format("process {} has ended and waits for its parent", process.pid)};
}

// Empty when there is none.
std::string control_file(const ProcessFacts& process) {
  require_living(process);
  const std::string folder = fmt::format("/proc/{}/fd", process.live_thread);
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory)
    throw AttachError{fmt::format("process {} has ended", process.pid)};
  if (const std::string raised = raised_privileges(process); error && !raised.empty())
    throw AttachError{fmt::format("process {} {}", process.pid, raised)};
  if (error)
    throw AttachError{
        fmt::format("the descriptors of process {} cannot be looked at ({}): run as its user, {}, or as root",
                    process.pid, error.message(), process.user)};
  if (const std::string problem = out_of_reach(process); !problem.empty())
    throw AttachError{fmt::format("process {} {}", process.pid, problem)};
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored).string().starts_with(mapped_name()))
      return entry.path().string();
  }
  return "";
}

// 0 when there is none.
std::uint64_t control_address(const ProcessFacts& process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process.live_thread));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(mapped_name()) == std::string::npos) continue;
    std::uint64_t address = 0;
    std::from_chars(line.data(), line.data() + line.size(), address, 16);
    return address;
  }
  return 0;
}

struct Fields {
  char magic[sizeof kControlMagic];
  std::uint32_t version;
  std::uint32_t on;
  char library_version[32];
  std::uint32_t owner;
  char journal[1024];
  char problem[256];
};
static_assert(sizeof(Fields) == sizeof(ControlPage) && offsetof(Fields, on) == offsetof(ControlPage, on) &&
              offsetof(Fields, problem) == offsetof(ControlPage, problem));

// Where the page of a process can be reached: its descriptor; the process's memory where that is closed.
class Switch {
 public:
  static std::optional<Switch> find(const ProcessFacts& process) {
    const std::string file = control_file(process);
    const std::uint64_t address = file.empty() ? control_address(process) : 0;
    if (file.empty() && address == 0) return std::nullopt;
    return Switch(process, file, address);
  }

  Fields read() const {
    Fields fields = {};
    const bool done = file_.empty()
                          ? read_process_memory(process_.live_thread, address_, &fields, sizeof fields)
                          : pread(Descriptor(file_).number(), &fields, sizeof fields, 0) ==
                                static_cast<ssize_t>(sizeof fields);
    if (!done) throw refused("read");
    if (memcmp(fields.magic, kControlMagic, sizeof fields.magic) != 0 || fields.version != 1)
      throw AttachError{
          fmt::format("the library in process {} is of another version than this command", process_.pid)};
    fields.library_version[sizeof fields.library_version - 1] = '\0';
    fields.journal[sizeof fields.journal - 1] = fields.problem[sizeof fields.problem - 1] = '\0';
    return fields;
  }

  void write(std::uint32_t on) const {
    const bool done =
        file_.empty()
            ? write_process_memory(process_.live_thread, address_ + offsetof(Fields, on), &on, sizeof on)
            : pwrite(Descriptor(file_).number(), &on, sizeof on, offsetof(Fields, on)) ==
                  static_cast<ssize_t>(sizeof on);
    if (!done) throw refused("changed");
  }

  bool has_descriptor() const { return !file_.empty(); }
  bool is_of(const Fields& fields) const {
    return fields.owner == 0 || fields.owner == number_inside(process_);
  }

 private:
  Switch(const ProcessFacts& process, std::string file, std::uint64_t address)
      : process_(process), file_(std::move(file)), address_(address) {}

  // The process's id as it sees it itself, in a container.
  static std::uint32_t number_inside(const ProcessFacts& process) {
    std::ifstream status(fmt::format("/proc/{}/status", process.live_thread));
    std::uint32_t number = static_cast<std::uint32_t>(process.pid);
    for (std::string line; std::getline(status, line);) {
      std::istringstream words(line);
      std::string name;
      if (words >> name; name != "NStgid:") continue;
      for (std::uint32_t next = 0; words >> next;) number = next;
    }
    return number;
  }

  AttachError refused(const char* done) const {
    const int error = errno;
    require_living(process_);
    if (file_.empty() && error == EPERM)
      return AttachError{
          fmt::format("process {} has closed the descriptor of its switch, or its limit leaves no room for "
                      "one, so that the switch "
                      "must be {} in its memory: that was refused, for it {}",
                      process_.pid, done, permission_problem(process_))};
    return AttachError{
        fmt::format("the switch of process {} cannot be {}: {}", process_.pid, done, strerror(error))};
  }

  const ProcessFacts& process_;
  std::string file_;
  std::uint64_t address_;
};

// A child of fork has its parent's for a moment.
std::optional<std::pair<Switch, Fields>> find_switch(const ProcessFacts& process) {
  constexpr int kRounds = 50;
  for (int round = 0;; ++round) {
    const auto control = Switch::find(process);
    if (!control) return std::nullopt;
    const Fields fields = control->read();
    if (control->is_of(fields)) return std::pair(*control, fields);
    if (round == kRounds)
      throw AttachError{fmt::format(
          "process {} was forked from process {} by a bare system call, and has that one's switch until "
          "it calls a watched kernel: switch {}, or this one after its first call",
          process.pid, fields.owner, fields.owner)};
    const timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

std::optional<ControlState> read_control(const ProcessFacts& process) {
  const auto found = find_switch(process);
  if (!found) return std::nullopt;
  const auto& [control, fields] = *found;
  return ControlState{fields.on != 0, fields.library_version, fields.journal, fields.problem,
                      control.has_descriptor()};
}

bool switch_control(const ProcessFacts& process, bool on) {
  const auto found = find_switch(process);
  if (const std::string there = without_switch(process); !found && !there.empty())
    throw AttachError{fmt::format("process {} {}", process.pid, there)};
  if (!found)
    throw AttachError{fmt::format("process {} runs without dtype-san; 'dtype-san attach {}' puts it in",
                                  process.pid, process.pid)};
  const auto& [control, fields] = *found;
  control.write(on ? 1 : 0);
  return fields.on != 0;
}

}  // namespace dtype_guard::san
