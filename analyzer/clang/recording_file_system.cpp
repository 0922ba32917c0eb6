#include "analyzer/clang/recording_file_system.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>

namespace dtype_guard::clang_front_end {

namespace {

// File systems keep times to a tick of the kernel at best, some to two seconds.
constexpr std::chrono::seconds kTimestampTick{2};

std::int64_t nanoseconds(llvm::sys::TimePoint<> time) { return time.time_since_epoch().count(); }

// Hands the file through and notes its content when it is read.
class RecordedFile : public llvm::vfs::File {
 public:
  RecordedFile(std::unique_ptr<llvm::vfs::File> below, source::ReadFile& note)
      : below_(std::move(below)), note_(note) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return below_->status(); }
  llvm::ErrorOr<std::string> getName() override { return below_->getName(); }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t size,
                                                               bool null_terminated,
                                                               bool is_volatile) override {
    auto buffer = below_->getBuffer(name, size, null_terminated, is_volatile);
    if (buffer) {
      note_.size = (*buffer)->getBufferSize();
      note_.hash = XXH3_64bits((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
    }
    return buffer;
  }
  std::error_code close() override { return below_->close(); }

 private:
  std::unique_ptr<llvm::vfs::File> below_;
  source::ReadFile& note_;
};

// The nearest folder of `path` that exists, and the name in it that does not lead on.
std::pair<std::string, std::string> nearest_folder(llvm::vfs::FileSystem& files, llvm::StringRef path) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  llvm::StringRef name = llvm::sys::path::filename(path);
  while (!folder.empty() && folder != "/" && !files.exists(folder)) {
    name = llvm::sys::path::filename(folder);
    folder = llvm::sys::path::parent_path(folder);
  }
  return {folder.str(), name.str()};
}

}  // namespace

RecordingFileSystem::RecordingFileSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below,
                                         const std::map<std::string, std::string>& only_here)
    : ProxyFileSystem(std::move(below)),
      only_here_(only_here),
      trusted_before_(nanoseconds(std::chrono::system_clock::now() - kTimestampTick)) {}

std::string RecordingFileSystem::absolute(const llvm::Twine& path) const {
  llvm::SmallString<256> text;
  path.toVector(text);
  (void)makeAbsolute(text);
  return text.str().str();
}

void RecordingFileSystem::note_failure(std::error_code error) {
  const bool nothing_there = error == std::errc::no_such_file_or_directory ||
                             error == std::errc::not_a_directory || error == std::errc::is_a_directory;
  refused_ = refused_ || !nothing_there;
}

llvm::ErrorOr<llvm::vfs::Status> RecordingFileSystem::status(const llvm::Twine& path) {
  auto status = ProxyFileSystem::status(path);
  const bool found = static_cast<bool>(status);
  if (!found) note_failure(status.getError());
  if (!found || status->isRegularFile()) looked_for_.try_emplace(absolute(path), found);
  // Where a folder has a header's name, the header is looked for further on; a file there would be it.
  if (found && status->isDirectory()) folders_.insert(absolute(path));
  return status;
}

bool RecordingFileSystem::exists(const llvm::Twine& path) {
  const bool found = ProxyFileSystem::exists(path);
  looked_for_.try_emplace(absolute(path), found);
  return found;
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> RecordingFileSystem::openFileForRead(
    const llvm::Twine& path) {
  auto file = ProxyFileSystem::openFileForRead(path);
  const std::string name = absolute(path);
  if (!file) {
    note_failure(file.getError());
    looked_for_.try_emplace(name, false);
    return file;
  }
  const auto status = (*file)->status();
  if (status && status->isDirectory()) folders_.insert(name);
  if (!status || !status->isRegularFile() || only_here_.contains(name)) return file;
  const auto [at, fresh] = read_.try_emplace(name);
  if (fresh) {
    const std::int64_t modified = nanoseconds(status->getLastModificationTime());
    at->second = {name, status->getSize(), modified < trusted_before_ ? modified : 0, 0};
  }
  return std::unique_ptr<llvm::vfs::File>(std::make_unique<RecordedFile>(std::move(*file), at->second));
}

source::Dependencies RecordingFileSystem::dependencies() const {
  source::Dependencies out;
  out.refused = refused_;
  for (const auto& [path, file] : read_) out.files.push_back(file);
  std::map<std::string, source::SearchedFolder> folders;
  llvm::vfs::FileSystem& files = getUnderlyingFS();
  std::map<std::string, std::pair<std::string, std::string>>
      nearest;  // folder that is not there -> its place
  for (const auto& [path, found] : looked_for_) {
    if (read_.contains(path) || only_here_.contains(path)) continue;
    const std::string parent = llvm::sys::path::parent_path(path).str();
    auto place = nearest.find(parent);
    if (place == nearest.end()) {
      const bool there = files.exists(parent);
      place = nearest.emplace(parent, there ? std::pair(parent, std::string()) : nearest_folder(files, path))
                  .first;
    }
    const bool here = place->second.first == parent;
    source::SearchedFolder& folder = folders[place->second.first];
    const std::string name = here ? llvm::sys::path::filename(path).str() : place->second.second;
    std::vector<std::string>& names = found ? folder.present : folder.absent;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  for (const std::string& path : folders_) {
    const llvm::StringRef parent = llvm::sys::path::parent_path(path);
    // With a slash behind it, a name is there only as a folder.
    if (parent.empty() || !llvm::sys::fs::is_directory(path)) continue;  // of headers that are not on disk
    folders[parent.str()].present.push_back(llvm::sys::path::filename(path).str() + "/");
  }
  for (auto& [path, folder] : folders) {
    folder.path = path;
    if (const auto status = files.status(path)) {
      const std::int64_t modified = nanoseconds(status->getLastModificationTime());
      folder.modified = modified < trusted_before_ ? modified : 0;
    }
    out.folders.push_back(std::move(folder));
  }
  return out;
}

}  // namespace dtype_guard::clang_front_end
