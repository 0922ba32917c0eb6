// The cache keeps one summary per source file, flags, rules and tool, together with the files and folders
// that it rests on. It is asked before Clang is started. A dependency whose size and time are as they were is
// unchanged; one that differs in time only is hashed. Settings, torch version and the other files decide
// about findings, so these are kept by the whole run alone (kept_answer.h).
//
// Entries are files that appear complete under their final name, so any number of runs may share a cache; one
// that is damaged is as good as none.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/driver/cache_entry.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/source/dependencies.h"

namespace dtype_guard::driver {

class Cache {
 public:
  // `folder` empty: nothing is found or kept. `rules` as for summary_text.
  Cache(std::string folder, std::string rules);

  // Everything that decides about the result and is no file, in any form that tells different cases apart.
  // The tool itself is added.
  std::string key(const std::vector<std::string>& parts) const;
  std::optional<FileSummary> find(const std::string& key);
  void store(const std::string& key, const source::Dependencies& dependencies, const FileSummary& summary);
  // The same of what rests on all that was found and stored before in this run, as far as that is known and
  // is still so.
  std::optional<std::string> find_text(const std::string& key);
  void store_text(const std::string& key, const std::string& text);
  void store_text(const std::string& key, const std::string& text, const source::Dependencies& rests_on);
  // Something was read of which it is not known what it rests on.
  void note_unknown() { rests_on_unknown_ = true; }
  // A file that is read from elsewhere than the disk: what rests on it is neither found nor kept.
  void leave_out(const std::string& file) { left_out_.insert(file); }

  // What went wrong, for people; at most one line of a kind.
  std::vector<std::string> notes() const;
  // Once a day, removes entries unused for two weeks, and the longest unused of more than 2 GiB.
  void prune() const;

  // $XDG_CACHE_HOME/dtype-lint or ~/.cache/dtype-lint; empty without a home.
  static std::string default_folder();

 private:
  struct Stat {
    bool exists = false;
    std::uint64_t size = 0;
    std::int64_t modified = 0;
  };
  std::string entry(const std::string& key) const;
  Stat stat(const std::string& path);
  bool unchanged(const source::ReadFile& file);
  bool unchanged(const source::SearchedFolder& folder);
  void note(const std::string& kind, std::string text);
  struct Found {
    std::string text;
    CacheEntry entry;  // into it
  };
  std::unique_ptr<Found> find_entry(const std::string& key);
  void write(const std::string& key, const source::Dependencies& dependencies, std::string_view text);
  void add_to_rests(const source::Dependencies& dependencies);

  std::string folder_;
  std::string rules_;
  std::string tool_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Stat> stats_;            // files do not change during a run
  std::unordered_map<std::string, std::uint64_t> hashes_;  // of those that had to be read
  std::vector<std::pair<std::string, std::string>> notes_;
  std::set<std::string> left_out_;
  std::map<std::string, source::ReadFile> files_;  // that the run rests on
  std::map<std::string, source::SearchedFolder> folders_;
  std::atomic<bool> rests_on_unknown_ = false;
};

}  // namespace dtype_guard::driver
