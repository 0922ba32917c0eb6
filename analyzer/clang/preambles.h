// The starts of source files, up to their last #include line, as Clang has parsed them: kept in the process,
// so that what follows is all that is parsed when an editor's user types.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace dtype_guard::clang_front_end {

struct Preamble;  // preamble_run.h

// May be used by several threads. A lowering that crashes, or is not waited for, has taken its preamble with
// it.
class Preambles {
 public:
  Preambles();
  ~Preambles();
  Preambles(const Preambles&) = delete;
  Preambles& operator=(const Preambles&) = delete;

  // Those of other files are dropped.
  void keep_only(const std::set<std::string>& files);
  bool has(const std::string& file) const;
  // Null where there is none.
  std::unique_ptr<Preamble> take(const std::string& file);
  void keep(const std::string& file, std::unique_ptr<Preamble> preamble);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Preamble>> kept_;
};

}  // namespace dtype_guard::clang_front_end
