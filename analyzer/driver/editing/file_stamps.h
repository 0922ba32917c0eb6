// Whether files are as they were when something was made of them: by size and time, and by content where a
// time does not tell versions apart.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace dtype_guard::driver {

// Called before each step with the file that it is about; throws where the work is not wanted any more.
using BeforeStep = std::function<void(const std::string& path)>;

struct FileStamp {
  std::uint64_t hash = 0, size = 0;
  std::int64_t modified = 0;
  bool is_edited = false;   // by an editor: the hash is of its text
  bool is_trusted = false;  // its time tells versions apart
};

class FileStamps {
 public:
  using Then = std::map<std::string, FileStamp>;  // by path

  // Looks at the disk anew. `edited`: hashes of texts that an editor gives instead of files.
  void begin(std::map<std::string, std::uint64_t> edited);
  // As what is made of the file `of` sees it: C++ is given its own text from the editor, and others from
  // disk.
  FileStamp of(const std::string& path, const std::string& of, const BeforeStep& step);
  bool are(Then& then, const std::string& of, const BeforeStep& step);
  // Whether a file that is read from disk now was another then, or none.
  static bool has_other_on_disk(const Then& then, const Then& now);

 private:
  std::map<std::string, std::uint64_t> edited_;
  std::map<std::pair<std::string, bool>, FileStamp> known_;  // as edited, or as on disk
};

std::uint64_t hash_of(const std::string& text);

}  // namespace dtype_guard::driver
