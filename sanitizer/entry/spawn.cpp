// posix_spawn: glibc starts the child with functions of its own, so that no hook of exec sees its
// environment.
#include <errno.h>
#include <spawn.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/system.h"
#include "sanitizer/process/bare_children.h"

namespace dtype_guard::san {
namespace {

int spawn(const char* name, pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  const auto next = reinterpret_cast<decltype(&posix_spawn)>(find_original(name));
  if (next == nullptr) return ENOSYS;
  const int result = next(child, path, actions, attributes, words, variables);
  if (result != 0) return result;
  QuietSection quiet;
  note_spawned(variables);
  return result;
}

}  // namespace
}  // namespace dtype_guard::san

extern "C" {

[[gnu::visibility("default")]] int posix_spawn(pid_t* child, const char* path,
                                               const posix_spawn_file_actions_t* actions,
                                               const posix_spawnattr_t* attributes, char* const* words,
                                               char* const* variables) {
  return dtype_guard::san::spawn("posix_spawn", child, path, actions, attributes, words, variables);
}

[[gnu::visibility("default")]] int posix_spawnp(pid_t* child, const char* file,
                                                const posix_spawn_file_actions_t* actions,
                                                const posix_spawnattr_t* attributes, char* const* words,
                                                char* const* variables) {
  return dtype_guard::san::spawn("posix_spawnp", child, file, actions, attributes, words, variables);
}

}  // extern "C"
