// Starts a command, passes on the signals that are sent to this process, and ends as the command ended.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace dtype_guard::san {

struct Launch {
  std::string path;                                              // of the file to execute
  std::vector<std::string> command;                              // its argv
  std::vector<std::pair<std::string, std::string>> environment;  // set in the command only
};

struct LaunchResult {
  int error = 0;   // errno when the command could not be started
  int status = 0;  // as waitpid gives it
  int pid = 0;
};

// DTYPE_SAN_COMMAND_PID is set to the command's process id.
LaunchResult launch(const Launch& launch);

// The exit status for that; dies by the same signal where the command did.
int end_as(const LaunchResult& result);

// A directory of this process alone, removed with it. Made in $TMPDIR or /tmp; with `plain_path` in one whose
// path has neither spaces nor colons.
class PrivateFolder {
 public:
  explicit PrivateFolder(bool plain_path);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }  // empty when none could be made
  const std::string& problem() const { return problem_; }

 private:
  std::filesystem::path path_;
  std::string problem_;
};

}  // namespace dtype_guard::san
