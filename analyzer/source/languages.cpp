// Which language a file is in, by its ending.
#include <algorithm>
#include <array>
#include <filesystem>

#include "analyzer/source/lowered_source.h"
#include "analyzer/source/user_code.h"

namespace dtype_guard::source {

bool is_cxx(std::string_view file) {
  static constexpr std::array<std::string_view, 7> kEndings = {".cpp", ".cc", ".cxx", ".c++",
                                                               ".cu",  ".C",  ".c"};
  const std::string ending = std::filesystem::path(file).extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end() ||
         is_header(std::string(file));
}

}  // namespace dtype_guard::source
