#include "sanitizer/journal/journal_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dtype_san_version.h"
#include "sanitizer/platform/clock.h"
#include "sanitizer/process/bare_children.h"
#include "sanitizer/process/switch.h"
#include "sanitizer/process/tally.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

void directory_path(TextSink& path) {
  const Options& options = settings();
  if (options.journal.empty()) {
    const char* temporary = getenv("TMPDIR");
    path << (temporary != nullptr && *temporary == '/' ? temporary : "/tmp") << "/dtype-san-"
         << static_cast<std::uint64_t>(geteuid());
    return;
  }
  if (options.journal.view()[0] != '/' && !start_folder().empty()) path << start_folder() << '/';
  path << options.journal.view();
}

// The default directory, and that of a journal in memory, lie in a place where others can write, so it must
// be ours alone.
bool is_private(int directory) {
  FileStatus status;
  return file_status(directory, status) && status.owner == geteuid() && (status.mode & 022U) == 0;
}

long create_file(Process& process) {
  TextSink path(process.journal_path, sizeof process.journal_path);
  directory_path(path);
  const int refused = mkdir(path.c_str(), 0700) != 0 ? errno : 0;
  const bool own_default = settings().journal.empty() || settings().journal_in_memory;
  long directory = open_file(AT_FDCWD, path.c_str(),
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC | (own_default ? O_NOFOLLOW : 0), 0);
  if (directory == -ENOENT && refused != 0) return -refused;  // why it is not there
  if (directory < 0) return directory;
  if (own_default && !is_private(static_cast<int>(directory))) {
    close_file(static_cast<int>(directory));
    return -EACCES;
  }
  path << '/' << host_name() << '.' << process_id() << '.' << now_ns();
  if (!rank_text().empty()) path << ".rank" << rank_text();
  path << kJournalSuffix;
  const char* name = std::strrchr(process.journal_path, '/') + 1;
  long opened = open_file(static_cast<int>(directory), name,
                          O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  close_file(static_cast<int>(directory));
  return opened;
}

std::string_view read_small_file(Process& process, const char* path, char* buffer, std::size_t size) {
  const long count = with_descriptors(process.descriptor_thread, [&](bool) {
    const long opened = open_file(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (opened < 0) return opened;
    const long got = read_bytes(static_cast<int>(opened), buffer, size);
    close_file(static_cast<int>(opened));
    return got;
  });
  return {buffer, count > 0 ? static_cast<std::size_t>(count) : 0};
}

// Field 22 of /proc/self/stat; the name before it is in brackets and may hold anything.
std::uint64_t start_of_process(Process& process, char* buffer, std::size_t size) {
  std::string_view text = read_small_file(process, "/proc/self/stat", buffer, size);
  text.remove_prefix(text.rfind(')') + 1);  // all of it stays where there is none
  std::size_t field = 2;
  std::uint64_t start = 0;
  for (char c : text) {
    if (c == ' ') ++field;
    if (field == 22 && c >= '0' && c <= '9') start = start * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return start;
}

void write_process_frame(Process& process, Scratch& scratch) {
  char* command = scratch.text;
  const std::size_t length = own_executable(scratch.path, sizeof scratch.path);
  std::string_view line = read_small_file(process, "/proc/self/cmdline", command, sizeof scratch.text);
  if (line.empty())
    line = read_small_file(process, "/proc/thread-self/cmdline", command, sizeof scratch.text);
  while (!line.empty() && line.back() == '\0') line.remove_suffix(1);
  for (std::size_t i = 0; i < line.size(); ++i)
    if (command[i] == '\0') command[i] = ' ';
  std::uint32_t rank = rank_text().empty() ? kNoRank : 0;
  for (char c : rank_text()) rank = rank * 10 + static_cast<std::uint32_t>(c - '0');
  FrameBuilder frame(scratch.frame, FrameType::kProcess);
  frame.u32(static_cast<std::uint32_t>(process_id()))
      .u32(static_cast<std::uint32_t>(getppid()))
      .u64(now_ns());
  frame.u32(rank).text(host_name());
  frame.text({scratch.path, length})
      .text(line)
      .text(DTYPE_SAN_VERSION)
      .u64(start_of_process(process, scratch.text, sizeof scratch.text))
      .u32(was_joined() ? 1 : 0);
  if (append_frame(process, frame, scratch)) process.described.store(1, std::memory_order_relaxed);
  if (settings().start == Start::kDormant)
    write_note(process, scratch, "start=dormant: what was called while watching was off is not recorded");
  if (!settings().follow_children)
    write_note(process, scratch, "follow_children=0: what children of this process call is not recorded");
}

// What a forked child finds of its parent, whose other knowledge is wiped there.
struct Kept {
  std::uint64_t owner;
  int descriptor;
  FileIdentity identity;
};
constinit Kept kept_last = {0, -1, {}};

// Keeps the descriptor where there is a place for it, and no other thread was first; else each frame opens
// the file anew. `known` is what was kept until now, + 1.
void keep(Process& process, long opened, int known) {
  const int high = move_up(static_cast<int>(opened));
  if (high < 0) return;
  if (process.descriptor.compare_exchange_strong(known, high + 1, std::memory_order_relaxed))
    kept_last = {process.owner, high, process.journal_identity};
  else
    close_file(high);
}

// Gone with the process, whichever way that ends. Where no descriptor can be kept it has a file, as others
// do.
bool create_in_memory(Process& process) {
  constexpr unsigned kCloseOnExec = 1;  // older headers lack it
  const long result = with_descriptors(process.descriptor_thread, [&](bool is_shared) -> long {
    const long made = is_shared ? syscall(SYS_memfd_create, "dtype-san-journal", kCloseOnExec) : -1;
    if (made < 0) return -ENOSYS;
    FileStatus status;
    const auto file = static_cast<int>(made);
    if (fcntl(file, F_SETFL, O_APPEND) != 0 || !file_status(file, status)) return close_file(file), -EIO;
    process.journal_identity = status.identity;
    process.counts_links = false;
    keep(process, made, process.descriptor.load(std::memory_order_relaxed));
    return 0;
  });
  const int kept = process.descriptor.load(std::memory_order_relaxed) - 1;
  process.is_in_memory = result == 0 && kept >= 0;
  if (!process.is_in_memory) return false;
  TextSink path(process.journal_path, sizeof process.journal_path);
  path << "/proc/" << process_id() << "/fd/" << static_cast<std::uint64_t>(kept);
  return true;
}

long create_journal(Process& process) {
  if (settings().journal_in_memory && !is_child() && create_in_memory(process)) return 0;
  return with_descriptors(process.descriptor_thread, [&](bool is_shared) -> long {
    const long opened = create_file(process);
    if (opened < 0) return opened;
    FileStatus status;
    const bool is_known = file_status(static_cast<int>(opened), status);
    process.journal_identity = status.identity;
    process.counts_links = status.links != 0;
    if (is_known && is_shared)
      keep(process, opened, process.descriptor.load(std::memory_order_relaxed));
    else
      close_file(static_cast<int>(opened));
    return is_known ? 0 : -EIO;
  });
}

void tell_failure(Process& process, Scratch& scratch, long error) {
  if (process.open_error.exchange(static_cast<std::uint32_t>(-error), std::memory_order_relaxed) != 0) return;
  if (TallyPage* page = tally()) {
    page->without.fetch_add(1, std::memory_order_relaxed);
    keep_reason(page->without_error, error);
  }
  TextSink message(scratch.path, sizeof scratch.path);
  message << "cannot create a journal at '" << process.journal_path << "': " << error_text(error)
          << "; findings of process " << process_id() << " are not recorded. "
          << (settings().journal.empty()
                  ? "Set DTYPE_SAN_OPTIONS=journal=DIRECTORY to one that you can write"
                  : "Name a directory that you can write in DTYPE_SAN_OPTIONS=journal=");
  say(message.view());
}

// Once it was told that there is none, and now there is.
void forget_failure(Process& process) {
  if (process.open_error.exchange(0, std::memory_order_relaxed) == 0) return;
  if (TallyPage* page = tally()) page->without.fetch_sub(1, std::memory_order_relaxed);
}

void set_state(Process& process, JournalState state) {
  process.journal.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  show_journal(process);
}

void tell_place(const Process& process, Scratch& scratch) {
  TextSink message(scratch.path, sizeof scratch.path);
  message << "process " << process_id() << ": journal '" << process.journal_path << '\'';
  say(message.view());
}

void start(Process& process, Scratch& scratch) {
  if (!settings().follow_children && is_child()) return set_state(process, JournalState::kUnwanted);
  remember_error_output();
  process.owner = process_id();
  close_parents_journal();
  if (const long error = create_journal(process); error < 0) {
    keep_reason(process.loss_reason, error);
    tell_failure(process, scratch, error);
    return set_state(process, JournalState::kFailed);
  }
  process.loss_reason.store(0, std::memory_order_relaxed);
  if (TallyPage* page = tally()) page->journals.fetch_add(1, std::memory_order_relaxed);
  forget_failure(process);
  set_state(process, JournalState::kOpen);
  if (settings().verbosity >= 1) tell_place(process, scratch);
  describe_process(process, scratch);
  expect_bare_children();
}

// A write that was cut short tells no reason: one for the rest does, or completes it. 0, or -errno.
long write_whole(int descriptor, const void* bytes, std::size_t size) {
  const long first = write_bytes(descriptor, bytes, size);
  if (first < 0 || static_cast<std::size_t>(first) == size) return first < 0 ? first : 0;
  const auto written = static_cast<std::size_t>(first);
  const long rest = write_bytes(descriptor, static_cast<const char*>(bytes) + written, size - written);
  if (rest < 0) return rest;
  return static_cast<std::size_t>(rest) == size - written ? 0 : -ENOSPC;
}

// By the descriptor that is kept; where the program has closed it or put another file in its place, and where
// none could be kept, by one of the moment. Gives 0 or -errno.
long write_to_journal(Process& process, const void* bytes, std::size_t size) {
  const int kept = process.descriptor.load(std::memory_order_relaxed) - 1;
  FileStatus status;
  if (kept >= 0 && file_status(kept, status) && status.identity == process.journal_identity)
    return status.links == 0 && process.counts_links ? -ESTALE : write_whole(kept, bytes, size);
  return with_descriptors(process.descriptor_thread, [&](bool is_shared) -> long {
    const long opened =
        open_file(AT_FDCWD, process.journal_path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
    if (opened < 0) return opened == -ENOENT || opened == -ELOOP ? -ESTALE : opened;
    FileStatus found;
    const auto file = static_cast<int>(opened);
    const bool is_ours = file_status(file, found) && found.identity == process.journal_identity;
    const long result = is_ours ? write_whole(file, bytes, size) : -ESTALE;
    if (is_ours && is_shared)
      keep(process, opened, kept + 1);
    else
      close_file(file);
    return result;
  });
}

// Once: a journal that just ends there looks like that of a process that was killed.
void note_unwritten(Process& process, long error) {
  const bool is_first = process.loss_reason.load(std::memory_order_relaxed) == 0;
  keep_reason(process.loss_reason, error);
  if (!is_first) return;
  show_journal(process);
  if (!settings().print_summary) return;
  TextBuffer<256> message;
  message << "the journal cannot be written: " << error_text(error) << "; what process " << process_id()
          << " finds while that lasts is lost";
  say(message.view());
}

bool append(Process& process, FrameBuilder& frame) {
  std::size_t size = frame.finish(process.sequence.fetch_add(1, std::memory_order_relaxed));
  const long error = write_to_journal(process, frame.data(), size);
  if (error < 0) note_unwritten(process, error);
  return error == 0;
}

// Up to max_journal_mb; then one last word. What ends a journal always goes in.
bool has_room(Process& process, const FrameBuilder& frame) {
  std::uint64_t limit = std::uint64_t{settings().max_journal_mb} << 20;
  std::uint64_t used =
      process.journal_bytes.fetch_add(frame.size(), std::memory_order_relaxed) + frame.size();
  bool is_ending = frame.type() == FrameType::kClose || frame.type() == FrameType::kExec ||
                   frame.type() == FrameType::kCalls;
  if (used <= limit || is_ending) return true;
  if (process.journal_full.exchange(1, std::memory_order_relaxed) != 0) return false;
  TextBuffer<128> text;
  text << "the journal reached max_journal_mb=" << std::uint64_t{settings().max_journal_mb}
       << " and stops there; later findings are only counted";
  char buffer[256];
  FrameBuilder note(buffer, sizeof buffer, FrameType::kNote);
  note.text(text.view());
  (void)append(process, note);
  return false;
}

}  // namespace

bool open_journal(Process& process, Scratch& scratch, Attempt attempt) {
  auto opening = static_cast<std::uint32_t>(JournalState::kOpening);
  std::uint32_t seen = static_cast<std::uint32_t>(JournalState::kNone);
  std::uint32_t failed = static_cast<std::uint32_t>(JournalState::kFailed);
  if (process.journal.compare_exchange_strong(seen, opening, std::memory_order_acq_rel) ||
      (attempt == Attempt::kAgain &&
       process.journal.compare_exchange_strong(failed, opening, std::memory_order_acq_rel)))
    start(process, scratch);
  for (Patience patience; process.journal.load(std::memory_order_acquire) == opening && patience.wait();) {
  }
  return process.journal.load(std::memory_order_acquire) == static_cast<std::uint32_t>(JournalState::kOpen);
}

void describe_process(Process& process, Scratch& scratch) {
  if (process.described.load(std::memory_order_relaxed) == 0) write_process_frame(process, scratch);
}

bool append_frame(Process& process, FrameBuilder& frame, const Scratch&) {
  if (frame.overflowed() || !has_room(process, frame)) return false;
  return append(process, frame);
}

void write_note(Process& process, Scratch& scratch, std::string_view text, std::string_view more) {
  FrameBuilder note(scratch.frame, FrameType::kNote);
  note.text(text, more);
  (void)append_frame(process, note, scratch);
}

void close_parents_journal() {
  FileStatus status;
  if (kept_last.descriptor < 0 || kept_last.owner == process_id()) return;
  if (file_status(kept_last.descriptor, status) && status.identity == kept_last.identity)
    close_file(kept_last.descriptor);
  kept_last.descriptor = -1;
}

void release_journal(Process& process) {
  if (process.is_in_memory) return;
  int descriptor = process.descriptor.exchange(0, std::memory_order_relaxed) - 1;
  FileStatus status;
  if (descriptor >= 0 && file_status(descriptor, status) && status.identity == process.journal_identity)
    close_file(descriptor);
}

}  // namespace dtype_guard::san
