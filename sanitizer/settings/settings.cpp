#include "sanitizer/settings/settings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/system.h"
#include "sanitizer/settings/joining.h"

namespace dtype_guard::san {
namespace {

enum : std::uint32_t { kUnread, kReading, kRead };

// Ready before any constructor runs: another library's may call a kernel first.
constinit Options options;
char host[65];
char rank[12];
char folder[1024];  // in which the process was started, where the journal's place depends on that
bool launched = false;
bool started_by_command = false;
bool joined = false;
std::uint64_t loading_process = 0;
constinit FileIdentity error_output;         // what descriptor 2 was when the journal was opened
constinit std::uint64_t error_output_owner;  // in this process; its children have their own
std::atomic<std::uint32_t> state{kUnread};

// Complaints are kept until everything has been read: log_path may come after the mistake.
struct Complaints {
  TextBuffer<2048> lines;
  static void keep(void* context, std::string_view message) {
    static_cast<Complaints*>(context)->lines << "dtype-san: DTYPE_SAN_OPTIONS: " << message << "; ignored\n";
  }
};

void write_out(std::string_view text) {
  QuietSection quiet;
  int target = 2;
  long opened = -1;
  if (!options.log_path.empty()) {
    TextBuffer<2048> path;
    expand_path(options.log_path.view(), process_id(), host, rank, path);
    opened = open_file(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (opened >= 0) target = static_cast<int>(opened);
  }
  // Descriptor 2 may have become some other file since the start: never write into that.
  if (target == 2) {
    FileStatus now;
    if (!file_status(2, now)) return;
    if (error_output_owner == process_id() && !(error_output == now.identity)) return;
  }
  (void)write_bytes(target, text.data(), text.size());
  if (opened >= 0) close_file(static_cast<int>(opened));
}

std::string_view variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? std::string_view(value) : std::string_view();
}

bool is_number(std::string_view text) {
  bool good = !text.empty() && text.size() < sizeof rank - 2;
  for (char c : text) good = good && c >= '0' && c <= '9';
  return good;
}

// torchrun's first: what it starts may itself run under one of the others. Slurm's last: a batch job has it
// in all that it starts in other ways.
void read_rank() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    std::string_view text = variable(name);
    if (!is_number(text)) continue;
    for (std::size_t i = 0; i < text.size(); ++i) rank[i] = text[i];
    return;
  }
}

void read_host() {
  utsname names = {};
  uname(&names);
  std::size_t i = 0;
  for (; i + 1 < sizeof host && names.nodename[i] != '\0'; ++i) {
    char c = names.nodename[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    host[i] = plain ? c : '_';
  }
  if (i == 0) host[i] = '_';
}

void read_environment() {
  if (getauxval(AT_SECURE) != 0) {  // raised privileges: be as if absent
    options.enabled = false;
    return;
  }
  Complaints complaints;
  const Mailbox* mailbox = joining_mailbox();  // the options are those of the command that joins this process
  parse_options(mailbox != nullptr ? mailbox->options : variable("DTYPE_SAN_OPTIONS"), options,
                Complaints::keep, &complaints);
  read_host();
  read_rank();
  if (!options.journal.empty() && options.journal.view()[0] != '/' &&
      getcwd(folder, sizeof folder) == nullptr)
    folder[0] = '\0';
  if (earlier_copy() != nullptr) {  // that one complains too, and two would count each call twice
    options.enabled = false;
    options.help = false;
    return;
  }
  TextBuffer<32> own;
  own << process_id();
  std::string_view command = variable("DTYPE_SAN_COMMAND_PID");
  launched = command == own.view();
  started_by_command = !command.empty() && !launched;
  loading_process = process_id();
  joined = mailbox != nullptr;
  if (!options.contracts.empty()) {
    const char* problem = nullptr;
    if (!load_own_contracts(options.contracts.c_str(), problem)) {
      TextBuffer<1400> message;
      message << "contracts '" << options.contracts.view() << "' " << problem;
      Complaints::keep(&complaints, message.view());
    }
  }
  if (complaints.lines.size() != 0) write_out(complaints.lines.view());
}

}  // namespace

const Options& settings() {
  std::uint32_t seen = state.load(std::memory_order_acquire);
  if (seen == kRead) [[likely]]
    return options;
  if (seen == kUnread && state.compare_exchange_strong(seen, kReading, std::memory_order_acquire)) {
    read_environment();
    state.store(kRead, std::memory_order_release);
  }
  // In the child of a fork beside that reading the reader does not exist.
  for (Patience patience; state.load(std::memory_order_acquire) != kRead && patience.wait();) {
  }
  return options;
}

std::string_view rank_text() { return rank; }
std::string_view host_name() { return host; }
std::string_view start_folder() { return folder; }
bool is_launched_command() { return launched; }
bool was_joined() { return joined && process_id() == loading_process; }

bool is_child() { return started_by_command || process_id() != loading_process; }

void remember_error_output() {
  FileStatus status;
  if (error_output_owner == process_id() || !file_status(2, status)) return;
  error_output = status.identity;
  error_output_owner = process_id();
}

void say(std::string_view text) {
  TextBuffer<4096> line;
  line << "dtype-san: " << text << '\n';
  write_out(line.view());
}

}  // namespace dtype_guard::san
