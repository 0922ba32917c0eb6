// Which file is parsed at the moment, for whichever import: for a process that may end there, and has to be
// told apart from the file that is lowered.
#pragma once

#include <functional>
#include <string>

namespace dtype_guard::python {

// Called by any thread with the file, gives what it was before; again with that once it is parsed.
using ParseWatch = std::function<std::string(const std::string& path)>;
// One for the process; before anything is parsed.
void watch_parsing(ParseWatch watch);

class ParsedNow {
 public:
  explicit ParsedNow(const std::string& path);
  ~ParsedNow();
  ParsedNow(const ParsedNow&) = delete;
  ParsedNow& operator=(const ParsedNow&) = delete;

 private:
  std::string before_;
};

}  // namespace dtype_guard::python
