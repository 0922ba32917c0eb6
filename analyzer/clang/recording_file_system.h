// The file system as Clang sees it during one run, remembering what was read and what was looked for in vain.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "analyzer/source/dependencies.h"

namespace dtype_guard::clang_front_end {

class RecordingFileSystem : public llvm::vfs::ProxyFileSystem {
 public:
  // `only_here`: files whose text was given, so that the disk has no say.
  RecordingFileSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below,
                      const std::map<std::string, std::string>& only_here);
  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  bool exists(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;

  source::Dependencies dependencies() const;

 private:
  std::string absolute(const llvm::Twine& path) const;
  void note_failure(std::error_code error);

  const std::map<std::string, std::string>& only_here_;
  std::int64_t trusted_before_;  // a later modification may share its time with an earlier one
  std::map<std::string, source::ReadFile> read_;
  std::map<std::string, bool> looked_for_;  // path -> found
  std::set<std::string> folders_;           // looked at
  bool refused_ = false;                    // something is there and could not be read
};

}  // namespace dtype_guard::clang_front_end
