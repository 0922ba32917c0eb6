#include "analyzer/driver/editing/file_stamps.h"

#define XXH_INLINE_ALL
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>

#include "analyzer/source/lowered_source.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace {
// A file changed later than this before it was read may be changed again within the same time stamp.
constexpr std::chrono::nanoseconds kTrustedAfter = std::chrono::seconds(2);

std::uint64_t read_hash(const std::string& path, const BeforeStep& step) {
  step(path);
  return hash_of(read_input(path).text);
}
}  // namespace

std::uint64_t hash_of(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

void FileStamps::begin(std::map<std::string, std::uint64_t> edited) {
  edited_ = std::move(edited);
  known_.clear();
}

FileStamp FileStamps::of(const std::string& path, const std::string& of, const BeforeStep& step) {
  const auto edited = edited_.find(path);
  const bool is_given = edited != edited_.end() && (path == of || source::is_python(path));
  const auto known = known_.find({path, is_given});
  if (known != known_.end()) return known->second;
  FileStamp out;
  struct stat now {};
  if (is_given) {
    out.hash = edited->second;
    out.is_edited = true;
  } else if (::stat(path.c_str(), &now) == 0) {
    out.size = static_cast<std::uint64_t>(now.st_size);
    out.modified = std::int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
    const auto clock = std::chrono::system_clock::now().time_since_epoch();
    out.is_trusted = clock - std::chrono::nanoseconds(out.modified) > kTrustedAfter;
    if (!out.is_trusted) out.hash = read_hash(path, step);
  }
  known_[{path, is_given}] = out;
  return out;
}

bool FileStamps::are(Then& then, const std::string& of, const BeforeStep& step) {
  for (auto& [path, before] : then) {
    FileStamp now = this->of(path, of, step);
    if (now.is_edited != before.is_edited) return false;
    if (now.is_edited) {
      if (now.hash != before.hash) return false;
      continue;
    }
    if (now.size != before.size) return false;
    if (now.is_trusted && before.is_trusted && now.modified == before.modified) continue;
    if (before.hash == 0) return false;  // it was not read, and has another time
    if (now.hash == 0) now.hash = read_hash(path, step);
    if (now.hash != before.hash) return false;
    before = now;
  }
  return true;
}

bool FileStamps::has_other_on_disk(const Then& then, const Then& now) {
  return std::any_of(now.begin(), now.end(), [&](const auto& each) {
    const auto& [path, stamp] = each;
    if (stamp.is_edited) return false;
    const auto before = then.find(path);
    return before == then.end() || before->second.is_edited || before->second.size != stamp.size ||
           before->second.modified != stamp.modified || before->second.hash != stamp.hash;
  });
}

}  // namespace dtype_guard::driver
