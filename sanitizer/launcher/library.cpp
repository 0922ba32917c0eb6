#include "sanitizer/launcher/library.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "sanitizer/attach/observer_note.h"

namespace dtype_guard::san {

namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "libdtype_san.so";

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path beside_this_command() {
  fs::path prefix = own_folder().parent_path();
  std::vector<fs::path> folders = {prefix / DTYPE_SAN_LIBRARY_FOLDER, prefix / "lib", prefix / "lib64",
                                   own_folder()};
  std::error_code error;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / kName, error)) return folder / kName;
  std::string tried;
  for (const fs::path& folder : folders) {
    std::string text = folder.lexically_normal().string();
    if (tried.find(text) == std::string::npos) tried += (tried.empty() ? "" : ", ") + text;
  }
  throw LibraryError{
      fmt::format("{} was not found in {}; name it with --library FILE or DTYPE_SAN_LIBRARY", kName, tried)};
}

bool splits_preload(const std::string& path) { return path.find_first_of(" \t\n:") != std::string::npos; }

}  // namespace

ElfIdentity library_identity(const fs::path& library) {
  std::string problem;
  std::optional<ElfIdentity> identity = read_elf(library.string(), problem);
  if (!identity) throw LibraryError{fmt::format("{}: not a preload library: {}", library.string(), problem)};
  return *identity;
}

fs::path find_library(const std::string& wanted) {
  const char* variable = std::getenv("DTYPE_SAN_LIBRARY");
  fs::path library = !wanted.empty()                            ? fs::path(wanted)
                     : variable != nullptr && *variable != '\0' ? fs::path(variable)
                                                                : beside_this_command();
  std::error_code error;
  if (!fs::is_regular_file(library, error))
    throw LibraryError{
        fmt::format("{}: no such preload library; expected the path of {}, named with --library FILE or "
                    "DTYPE_SAN_LIBRARY",
                    library.string(), kName)};
  library = fs::absolute(library).lexically_normal();
  ElfIdentity identity = library_identity(library);
  std::string problem;
  std::optional<ElfIdentity> own = read_elf("/proc/self/exe", problem);
  if (own && !identity.same_architecture(*own))
    throw LibraryError{fmt::format("{}: a {} library, this system runs {}; use the library built for it",
                                   library.string(), identity.describe(), own->describe())};
  if (!identity.is_shared_object)
    throw LibraryError{fmt::format("{}: not a shared library", library.string())};
  if (!exports_switch(library.string()))
    throw LibraryError{fmt::format(
        "{}: not the preload library of dtype-san, for it has no function 'dtype_san_switch'; expected "
        "the path of {}",
        library.string(), kName)};
  return library;
}

fs::path preloadable_path(const fs::path& library, const fs::path& private_folder) {
  if (!splits_preload(library.string())) return library;
  fs::path link = private_folder / kName;
  if (splits_preload(link.string()))
    throw LibraryError{
        fmt::format("neither {} nor {} can be preloaded: LD_PRELOAD is split at spaces and colons; set "
                    "TMPDIR to a directory without them",
                    library.string(), link.string())};
  fs::create_symlink(library, link);
  return link;
}

}  // namespace dtype_guard::san
