#include "sanitizer/attach/control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>

#include "sanitizer/runtime/control_page.h"

namespace dtype_guard::san {
namespace {

namespace fs = std::filesystem;

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

// Empty when there is none.
std::string control_file(const ProcessFacts& process) {
  if (has_ended(process.pid))
    throw AttachError{fmt::format("process {} has ended and waits for its parent", process.pid)};
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
  const std::string name = fmt::format("/memfd:{}", kControlName);
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored).string().starts_with(name)) return entry.path().string();
  }
  return "";
}

struct Fields {
  char magic[sizeof kControlMagic];
  std::uint32_t version;
  std::uint32_t on;
  char library_version[32];
};
static_assert(sizeof(Fields) == sizeof(ControlPage) && offsetof(Fields, on) == offsetof(ControlPage, on));

Fields read_fields(const ProcessFacts& process, const Descriptor& file) {
  Fields fields = {};
  if (pread(file.number(), &fields, sizeof fields, 0) != static_cast<ssize_t>(sizeof fields))
    throw AttachError{
        fmt::format("the switch of process {} cannot be read: {}", process.pid, strerror(errno))};
  if (memcmp(fields.magic, kControlMagic, sizeof fields.magic) != 0 || fields.version != 1)
    throw AttachError{
        fmt::format("the library in process {} is of another version than this command", process.pid)};
  fields.library_version[sizeof fields.library_version - 1] = '\0';
  return fields;
}

}  // namespace

std::optional<ControlState> read_control(const ProcessFacts& process) {
  const std::string path = control_file(process);
  if (path.empty()) return std::nullopt;
  const Descriptor file(path);
  const Fields fields = read_fields(process, file);
  return ControlState{fields.on != 0, fields.library_version};
}

bool switch_control(const ProcessFacts& process, bool on) {
  const std::string path = control_file(process);
  if (const std::string there = without_switch(process); path.empty() && !there.empty())
    throw AttachError{fmt::format("process {} {}", process.pid, there)};
  if (path.empty())
    throw AttachError{fmt::format("process {} runs without dtype-san; 'dtype-san attach {}' puts it in",
                                  process.pid, process.pid)};
  const Descriptor file(path);
  const Fields fields = read_fields(process, file);
  const std::uint32_t value = on ? 1 : 0;
  if (pwrite(file.number(), &value, sizeof value, offsetof(Fields, on)) != static_cast<ssize_t>(sizeof value))
    throw AttachError{fmt::format("process {} cannot be switched: {}", process.pid, strerror(errno))};
  return fields.on != 0;
}

}  // namespace dtype_guard::san
