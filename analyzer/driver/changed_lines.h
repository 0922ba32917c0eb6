// Which lines differ from a revision of git (--diff-base), so that a review shows only the findings that it
// can have caused. Asked for by name, git is run here, without external diffs, text conversion and file
// monitors.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::driver {

class ChangedLines {
 public:
  // Of the working tree below `root` against `revision`; a file that git does not track is changed as a
  // whole. Throws UsageError where git, the repository or the revision is not there.
  static ChangedLines since(const std::string& revision, const std::string& root);
  // From the text of a diff without context and prefixes, file names relative to the root.
  static ChangedLines of_diff(std::string_view diff);

  bool holds(const SourceLocation& location) const;
  // Whether the place to edit, a step of the way or a call is on a changed line.
  bool touches(const Finding& finding) const;

 private:
  std::map<std::string, std::vector<std::pair<int, int>>> files_;  // first and last line of each hunk
};

}  // namespace dtype_guard::driver
