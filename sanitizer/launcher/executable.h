// What kind of file a command is, and whether a preloaded library can enter it.
#pragma once

#include <string>

#include "sanitizer/elf/identity.h"

namespace dtype_guard::san {

// An exit status of 0 means that the command can be started; else why not, as a shell would count it (127 not
// found, 126 not startable) or because nothing could be seen in it (126).
struct CommandCheck {
  int status = 0;
  std::string problem;
  std::string path;  // of the file to execute
};
CommandCheck check_command(const std::string& command, const ElfIdentity& library);

}  // namespace dtype_guard::san
