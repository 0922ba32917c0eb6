#include "analyzer/driver/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "analyzer/driver/tool_identity.h"
#include "analyzer/driver/version.h"
#include "rules/files/atomic_file.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::Dependencies;
using source::ReadFile;
using source::SearchedFolder;

namespace {

constexpr std::chrono::hours kUnusedFor{24 * 14};
constexpr std::chrono::hours kPruneEvery{24};
constexpr std::uintmax_t kMostBytes = std::uintmax_t{2} << 30U;  // a million lines of Python take 200 MB
// What changes where headers are looked for.
constexpr const char* kEnvironment[] = {"CPATH",   "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
                                        "SDKROOT", "CUDA_PATH",      "CUDA_HOME"};

std::optional<std::string> content(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  struct stat now {};
  if (::fstat(file, &now) == 0 && now.st_size > 0) text.resize(static_cast<std::size_t>(now.st_size));
  std::size_t have = 0;
  ssize_t got = 1;
  while (have < text.size() && got > 0) {
    got = ::read(file, text.data() + have, text.size() - have);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (have != text.size()) return std::nullopt;
  return text;
}

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string tool_identity() {
  std::string program = build_id();
  if (program.empty()) program = fmt::format("{:016x}", hash_of(content("/proc/self/exe").value_or("")));
  std::error_code error;
  return fmt::format("{} {} {} {}", kVersion, clang_front_end::llvm_version(), program,
                     fs::file_size("/proc/self/exe", error));
}

}  // namespace

Cache::Cache(std::string folder, std::string rules)
    : folder_(std::move(folder)), rules_(std::move(rules)), tool_(folder_.empty() ? "" : tool_identity()) {}

std::string Cache::default_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string cache = variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache + "/dtype-lint";
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/dtype-lint" : "";
}

std::string Cache::key(const std::vector<std::string>& parts) const {
  if (folder_.empty()) return {};
  std::string all;
  const auto add = [&](std::string_view part) {
    all += fmt::format("{}:", part.size());
    all += part;
  };
  add(tool_);
  add(rules_);
  for (const char* name : kEnvironment) {
    const char* value = std::getenv(name);
    add(value ? value : "");
  }
  for (const std::string& each : parts) add(each);
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string Cache::entry(const std::string& key) const {
  return fmt::format("{}/{}/{}", folder_, key.substr(0, 2), key.substr(2));
}

Cache::Stat Cache::stat(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = stats_.find(path); known != stats_.end()) return known->second;
  }
  struct stat now {};
  Stat result;
  if (::stat(path.c_str(), &now) == 0) {
    result.exists = true;
    result.size = static_cast<std::uint64_t>(now.st_size);
    result.modified = std::int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  }
  const std::lock_guard lock(mutex_);
  return stats_.try_emplace(path, result).first->second;
}

bool Cache::unchanged(const ReadFile& file) {
  if (left_out_.contains(file.path)) return false;
  const Stat now = stat(file.path);
  if (!now.exists || now.size != file.size) return false;
  if (file.modified != 0 && now.modified == file.modified) return true;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = hashes_.find(file.path); known != hashes_.end()) return known->second == file.hash;
  }
  const std::optional<std::string> text = content(file.path);
  if (!text) return false;
  const std::lock_guard lock(mutex_);
  return hashes_.try_emplace(file.path, hash_of(*text)).first->second == file.hash;
}

bool Cache::unchanged(const SearchedFolder& folder) {
  const Stat now = stat(folder.path);
  if (now.exists && folder.modified != 0 && now.modified == folder.modified) return true;
  const auto exists = [&](const std::string& name) { return stat(folder.path + "/" + name).exists; };
  return std::none_of(folder.absent.begin(), folder.absent.end(), exists) &&
         std::all_of(folder.present.begin(), folder.present.end(), exists);
}

std::unique_ptr<Cache::Found> Cache::find_entry(const std::string& key) {
  if (folder_.empty()) return nullptr;
  const std::string path = entry(key);
  std::optional<std::string> text = content(path);
  if (!text) return nullptr;
  auto out = std::make_unique<Found>();
  out->text = std::move(*text);
  std::optional<CacheEntry> found = parse_cache_entry(key, out->text);
  if (!found) {
    note("damaged", fmt::format("'{}' in the cache is damaged and was left out of account", path));
    return nullptr;
  }
  out->entry = std::move(*found);
  const Dependencies& rests_on = out->entry.dependencies;
  const auto same = [&](const auto& each) { return unchanged(each); };
  if (!std::all_of(rests_on.files.begin(), rests_on.files.end(), same) ||
      !std::all_of(rests_on.folders.begin(), rests_on.folders.end(), same)) {
    return nullptr;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used: prune() keeps it
  return out;
}

std::optional<FileSummary> Cache::find(const std::string& key) {
  const std::unique_ptr<Found> found = find_entry(key);
  if (!found) return std::nullopt;
  try {
    FileSummary summary = parse_summary(found->entry.summary, entry(key), rules_);
    for (const ReadFile& each : found->entry.dependencies.files) summary.files_read.push_back(each.path);
    add_to_rests(found->entry.dependencies);
    return summary;
  } catch (const SummaryError& error) {
    note("damaged", error.what());
    return std::nullopt;
  }
}

std::optional<std::string> Cache::find_text(const std::string& key) {
  const std::unique_ptr<Found> found = find_entry(key);
  if (!found) return std::nullopt;
  return std::string(found->entry.summary);
}

void Cache::add_to_rests(const Dependencies& dependencies) {
  const std::lock_guard lock(mutex_);
  for (const ReadFile& each : dependencies.files) {
    const auto [known, is_new] = files_.try_emplace(each.path, each);
    if (is_new) continue;
    if (known->second.size != each.size || known->second.hash != each.hash) rests_on_unknown_ = true;
    // A time that tells versions apart does so for all.
    if (known->second.modified == 0) known->second.modified = each.modified;
  }
  for (const SearchedFolder& each : dependencies.folders) {
    const auto [known, is_new] = folders_.try_emplace(each.path, each);
    if (is_new) continue;
    SearchedFolder& all = known->second;
    if (all.modified != each.modified) all.modified = 0;
    const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& names) {
      to.insert(to.end(), names.begin(), names.end());
      std::sort(to.begin(), to.end());
      to.erase(std::unique(to.begin(), to.end()), to.end());
    };
    add(all.absent, each.absent);
    add(all.present, each.present);
  }
}

void Cache::store(const std::string& key, const Dependencies& dependencies, const FileSummary& summary) {
  if (folder_.empty()) return;
  const bool rests_on_left_out =
      std::any_of(dependencies.files.begin(), dependencies.files.end(),
                  [&](const ReadFile& each) { return left_out_.contains(each.path); });
  if (rests_on_left_out) return note_unknown();
  add_to_rests(dependencies);
  write(key, dependencies, summary_text(summary, rules_));
}

void Cache::store_text(const std::string& key, const std::string& text) {
  if (folder_.empty() || rests_on_unknown_) return;
  Dependencies all;
  for (const auto& [path, each] : files_) all.files.push_back(each);
  for (const auto& [path, each] : folders_) all.folders.push_back(each);
  stats_.clear();  // as they are by now
  hashes_.clear();
  const auto same = [&](const auto& each) { return unchanged(each); };
  if (std::all_of(all.files.begin(), all.files.end(), same) &&
      std::all_of(all.folders.begin(), all.folders.end(), same)) {
    write(key, all, text);
  }
}

void Cache::store_text(const std::string& key, const std::string& text, const Dependencies& rests_on) {
  if (!folder_.empty()) write(key, rests_on, text);
}

void Cache::write(const std::string& key, const Dependencies& dependencies, std::string_view summary) {
  const std::string text = cache_entry_text(key, dependencies, summary);
  if (text.empty()) return;
  const std::string path = entry(key);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const std::string problem = error ? error.message() : write_atomically(path, text);
  if (!problem.empty()) {
    note("unwritable",
         fmt::format("the cache in '{}' cannot be written: {}; --cache DIR names another folder, "
                     "--no-cache does without",
                     folder_, problem));
  }
}

void Cache::note(const std::string& kind, std::string text) {
  const std::lock_guard lock(mutex_);
  const bool known =
      std::any_of(notes_.begin(), notes_.end(), [&](const auto& each) { return each.first == kind; });
  if (!known) notes_.emplace_back(kind, std::move(text));
}

std::vector<std::string> Cache::notes() const {
  std::vector<std::string> out;
  for (const auto& [kind, text] : notes_) out.push_back(text);
  return out;
}

void Cache::prune() const {
  std::error_code error;
  if (folder_.empty() || !fs::is_directory(folder_, error)) return;
  const fs::path stamp = fs::path(folder_) / "pruned";
  const auto now = fs::file_time_type::clock::now();
  const auto last = fs::last_write_time(stamp, error);
  if (!error && now - last < kPruneEvery) return;
  if (!write_atomically(stamp.string(), "").empty()) return;
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t size = 0;
    fs::path path;
  };
  std::vector<Entry> kept;
  std::uintmax_t size = 0;
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (at.depth() != 1) continue;
    std::error_code gone;  // another run may prune as well
    Entry each{fs::last_write_time(at->path(), gone), 0, at->path()};
    if (gone) continue;
    each.size = fs::file_size(each.path, gone);
    if (gone) continue;
    size += each.size;
    kept.push_back(std::move(each));
  }
  std::sort(kept.begin(), kept.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& each : kept) {
    if (now - each.used <= kUnusedFor && size <= kMostBytes) break;
    fs::remove(each.path, error);
    size -= each.size;
  }
}

}  // namespace dtype_guard::driver
