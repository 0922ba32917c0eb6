#include "analyzer/driver/carried_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>

#include "analyzer/driver/reading.h"
#include "analyzer/driver/usage_error.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::CompileCommand;

namespace {

constexpr std::size_t kUsersTried = 8;  // for one header
constexpr std::size_t kTriedInAll = 32;

bool same_command(const CompileCommand& a, const CompileCommand& b) {
  return a.file == b.file && a.arguments == b.arguments;
}

// Of a file with an #include of it: one that could not be read to its end might have come to it.
bool may_include(const CompileCommand& command, const FileSummary& summary, const CarriedHeader& header) {
  const bool is_user = std::any_of(header.users.begin(), header.users.end(),
                                   [&](const CompileCommand& each) { return same_command(each, command); });
  if (summary.failed() || summary.files_read.empty()) return is_user;
  const fs::path wanted(header.file);
  return std::any_of(summary.files_read.begin(), summary.files_read.end(), [&](const std::string& each) {
    std::error_code error;
    return each == header.file ||
           (fs::path(each).filename() == wanted.filename() && fs::equivalent(each, wanted, error));
  });
}

class Reading {
 public:
  Reading(SourceList& sources, const ReadFiles& read)
      : sources_(sources), read_files_(read), read_(read(sources)) {}

  std::vector<FileSummary> run() {
    std::vector<CarriedHeader> kept;
    for (const CarriedHeader& each : sources_.carried) {
      if (is_read(each) || read_through_another(each)) {
        kept.push_back(each);
      } else {
        leave_out(each);
      }
    }
    if (!changed_) return std::move(read_);
    sources_.carried = std::move(kept);
    drop_useless_carriers();
    if (sources_.commands.empty() && !sources_.missing.empty())
      throw UsageError(sources_.missing.front().detail);
    sort();
    return std::move(read_);
  }

 private:
  bool is_read(const CarriedHeader& header) const {
    for (std::size_t i = 0; i < read_.size(); ++i) {
      if (may_include(sources_.commands[i], read_[i], header)) return true;
    }
    return false;
  }

  bool read_through_another(const CarriedHeader& header) {
    std::size_t tried = 0;
    for (const CompileCommand& user : header.users) {
      const bool known = std::any_of(sources_.commands.begin(), sources_.commands.end(),
                                     [&](const CompileCommand& each) { return same_command(each, user); });
      if (known) continue;
      if (tried++ == kUsersTried || tried_in_all_++ >= kTriedInAll) return false;
      SourceList alone = sources_;
      alone.commands = {user};
      FileSummary summary = std::move(read_files_(alone).front());
      changed_ = true;
      const bool found = may_include(user, summary, header);
      sources_.commands.push_back(user);
      sources_.carriers.insert(summary.source);
      read_.push_back(std::move(summary));
      if (found) return true;
    }
    return false;
  }

  void leave_out(const CarriedHeader& header) {
    changed_ = true;
    const std::string name = sources_.user_code.report_name(header.file);
    std::erase(sources_.headers, name);
    if (!header.named) return;
    std::string looked_at;
    for (std::size_t i = 0; i < std::min(header.users.size(), kUsersTried); ++i)
      looked_at += (i ? ", " : "") + sources_.user_code.report_name(header.users[i].file);
    sources_.missing.push_back(
        {name, "", "no-command",
         fmt::format("'{}' is a header, and no file of the compile database includes it the way it is "
                     "compiled (looked at: {}{}); give the compiler flags after --",
                     header.file, looked_at, header.users.size() > kUsersTried ? ", ..." : "")});
  }

  // Drops the files that were read for a header that they do not include.
  void drop_useless_carriers() {
    for (std::size_t i = read_.size(); i-- > 0;) {
      const bool carries = std::any_of(
          sources_.carried.begin(), sources_.carried.end(),
          [&](const CarriedHeader& each) { return may_include(sources_.commands[i], read_[i], each); });
      if (carries || !sources_.carriers.count(read_[i].source)) continue;
      read_.erase(read_.begin() + static_cast<std::ptrdiff_t>(i));
      sources_.commands.erase(sources_.commands.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::erase_if(sources_.carriers, [&](const std::string& name) {
      return std::none_of(read_.begin(), read_.end(),
                          [&](const FileSummary& each) { return each.source == name; });
    });
  }

  void sort() {
    std::vector<std::size_t> order(read_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return sources_.commands[a].file < sources_.commands[b].file;
    });
    std::vector<FileSummary> read;
    std::vector<CompileCommand> commands;
    for (const std::size_t each : order) {
      read.push_back(std::move(read_[each]));
      commands.push_back(std::move(sources_.commands[each]));
    }
    read_ = std::move(read);
    sources_.commands = std::move(commands);
  }

  SourceList& sources_;
  const ReadFiles& read_files_;
  std::vector<FileSummary> read_;
  std::size_t tried_in_all_ = 0;
  bool changed_ = false;
};

}  // namespace

std::vector<FileSummary> read_with_headers(const Options& options, SourceList& sources, Cache& cache,
                                           const ReadFiles& read) {
  const ReadFiles all = [&](const SourceList& list) { return read_sources(options, list, cache); };
  return Reading(sources, read ? read : all).run();
}

}  // namespace dtype_guard::driver
