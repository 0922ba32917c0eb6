// The stack of a recorded call for people: addresses become functions and lines, and in a Python process the
// Python frames stand where the interpreter's evaluation loop was.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rules/finding/finding.h"
#include "sanitizer/symbolize/address.h"
#include "sanitizer/symbolize/journal_reader.h"

namespace dtype_guard::san {

struct StackSettings {
  std::string root;               // files below it are shown relative to it
  std::string strip_path_prefix;  // removed from other file names
  bool symbolize = true;
  std::string sysroot;  // copies of the watched machine's files lie below it
};

// The first frame in the user's own code; a file without lines is still better than none. What lies in one of
// the folders is PyTorch's.
SourceLocation user_location(const std::vector<StackFrame>& frames,
                             const std::set<std::string>& torch_folders = {});

// The innermost frame inside that one whose code was generated (by torch.compile, torch.fx), or nullptr: then
// the user's frame is that of the function that was compiled, or the line that runs it.
const StackFrame* generated_code(const std::vector<StackFrame>& frames,
                                 const std::set<std::string>& torch_folders = {});

class Stacks {
 public:
  explicit Stacks(StackSettings settings) : settings_(std::move(settings)), symbolizer_(settings_.sysroot) {}

  std::vector<StackFrame> resolve(const Journal& journal, const JournalFinding& call);
  // user_location() of a stack that was resolved here.
  SourceLocation place_of(const std::vector<StackFrame>& frames) const {
    return user_location(frames, torch_folders_);
  }
  // For a step of a finding: that its line stands for generated code, or nothing.
  std::string generated_note(const std::vector<StackFrame>& frames) const;
  const std::vector<std::string>& refused() const { return symbolizer_.refused(); }

 private:
  std::vector<StackFrame> native(const Journal& journal, const JournalFinding& call);
  std::string shown_path(const std::string& file) const;
  void note_torch(const Journal& journal);

  StackSettings settings_;
  std::set<std::string> torch_folders_;  // as they are shown
  const Journal* noted_ = nullptr;       // whose modules these were looked for in last
  Symbolizer symbolizer_;
};

// Native frames with the Python frames in place of the evaluation loop's; the rest of the interpreter goes.
std::vector<StackFrame> merge_python(const std::vector<StackFrame>& native,
                                     const std::vector<StackFrame>& python, const std::vector<bool>& from_c);

}  // namespace dtype_guard::san
