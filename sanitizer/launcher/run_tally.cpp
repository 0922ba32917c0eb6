#include "sanitizer/launcher/run_tally.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace dtype_guard::san {
namespace {

constexpr std::size_t kPage = 4096;

std::string reason(std::uint32_t error) {
  if (error == ESTALE) return "the journal was removed or replaced";
  if (error == EAGAIN) return "too many threads recorded at once";
  return error != 0 ? std::strerror(static_cast<int>(error)) : "the reason is not known";
}

std::string some(std::uint64_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

// A file size limit holds for memory too, and its signal ends a process. The page needs few bytes.
bool set_size(int file, std::size_t size) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const bool done = ftruncate(file, static_cast<off_t>(size)) == 0;
  std::signal(SIGXFSZ, before);
  return done;
}

}  // namespace

RunTally::RunTally() : file_(memfd_create(kTallyName, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (file_ < 0 || !set_size(file_, sizeof(TallyPage)) ||
      fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return;
  void* mapped = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) return;
  page_ = static_cast<TallyPage*>(mapped);
  std::memcpy(page_->magic, kTallyMagic, sizeof kTallyMagic);
}

RunTally::~RunTally() {
  if (page_ != nullptr) munmap(page_, kPage);
  if (file_ >= 0) close(file_);
}

std::string RunTally::path() const {
  return page_ != nullptr ? fmt::format("/proc/{}/fd/{}", getpid(), file_) : "";
}

Losses RunTally::losses(std::uint64_t begun, std::size_t journals) const {
  Losses found;
  if (page_ == nullptr) return found;
  if (const std::uint64_t lost = page_->findings.load(); lost != 0) {
    found.findings = true;
    found.sentences.push_back(fmt::format("{} could not be recorded: {}", some(lost, "finding", "findings"),
                                          reason(page_->error.load())));
  }
  if (const std::uint64_t without = page_->without.load(); without != 0)
    found.sentences.push_back(
        fmt::format("{} could not create a journal, so that what {} called is not known: {}",
                    some(without, "process", "processes"), without == 1 ? "it" : "they",
                    reason(page_->without_error.load())));
  if (begun > journals)
    found.sentences.push_back(fmt::format(
        "{} of {} that were begun {} not there any more: removed by the command, or out of its reach",
        some(begun - journals, "journal", "journals"), begun, begun - journals == 1 ? "is" : "are"));
  return found;
}

}  // namespace dtype_guard::san
