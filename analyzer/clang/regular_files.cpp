#include "analyzer/clang/regular_files.h"

#include <string>
#include <system_error>

namespace dtype_guard::clang_front_end {

namespace {

// What Clang says behind "cannot open file 'x': ".
class NoFile : public std::error_category {
 public:
  const char* name() const noexcept override { return "no regular file"; }
  std::string message(int type) const override {
    const bool pipe = static_cast<llvm::sys::fs::file_type>(type) == llvm::sys::fs::file_type::fifo_file;
    return std::string(pipe ? "it is a named pipe" : "it is a device") + "; a regular file was expected";
  }
};

}  // namespace

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> RegularFiles::openFileForRead(const llvm::Twine& path) {
  using llvm::sys::fs::file_type;
  static const NoFile category;
  const auto status = ProxyFileSystem::status(path);
  const file_type type = status ? status->getType() : file_type::status_error;
  const bool waits = type == file_type::fifo_file || type == file_type::socket_file ||
                     type == file_type::block_file || type == file_type::character_file;
  if (waits && path.str() != "/dev/null") return std::error_code(static_cast<int>(type), category);
  return ProxyFileSystem::openFileForRead(path);
}

}  // namespace dtype_guard::clang_front_end
