// The disk with regular files only: reading a named pipe would wait for a writer, and some devices never end.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

namespace dtype_guard::clang_front_end {

class RegularFiles : public llvm::vfs::ProxyFileSystem {
 public:
  using ProxyFileSystem::ProxyFileSystem;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;
};

}  // namespace dtype_guard::clang_front_end
