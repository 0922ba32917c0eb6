// What an installer puts into a folder of programs: finds the package dtype_guard from there and goes on as
// the program of the same name inside it. So an environment can be moved, and no Python starts.
#include <glob.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Of an environment, a user, a system or a prefix; of PyPy before 7.3.8; of `pip install --target`.
constexpr const char* kPackageFolders[] = {"lib*/*/site-packages", "lib*/*/dist-packages", "site-packages",
                                           "."};

char name[NAME_MAX + 1];  // of the program

// The folder above that of `file`; false where there is none.
bool prefix_of(const char* file, char (&prefix)[PATH_MAX]) {
  const char* slash = std::strrchr(file, '/');
  char folder[PATH_MAX];
  std::snprintf(folder, sizeof folder, "%.*s/", slash != nullptr ? static_cast<int>(slash - file) : 1,
                slash != nullptr ? file : ".");
  if (realpath(folder, prefix) == nullptr) return false;
  *std::strrchr(prefix, '/') = '\0';
  return true;
}

// As a pattern that stands for itself.
void escape(const char* from, char (&to)[2 * PATH_MAX]) {
  char* end = to;
  for (; *from != '\0'; *end++ = *from++)
    if (std::strchr("*?[]\\", *from) != nullptr) *end++ = '\\';
  *end = '\0';
}

bool find_self(char (&path)[PATH_MAX]) {
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  std::snprintf(name, sizeof name, "%s", std::strrchr(path, '/') + 1);
  return true;
}

// Goes on as the program in the first package whose folder has `beside` too; comes back where there is none.
void go_on(const char* prefix, const char* beside, char** arguments) {
  for (const char* folder : kPackageFolders) {
    char pattern[3 * PATH_MAX];
    std::snprintf(pattern, sizeof pattern, "%s/%s/%s", prefix, folder, beside);
    glob_t found;
    if (glob(pattern, 0, nullptr, &found) == 0) {
      for (std::size_t at = 0; at < found.gl_pathc; ++at) {
        char program[2 * PATH_MAX];
        const char* end = std::strrchr(found.gl_pathv[at], '/');
        std::snprintf(program, sizeof program, "%.*s/dtype_guard/installed/bin/%s",
                      static_cast<int>(end - found.gl_pathv[at]), found.gl_pathv[at], name);
        execv(program, arguments);
        if (errno == ENOENT) continue;
        std::fprintf(stderr, "%s: %s cannot be run: %s\n", name, program, std::strerror(errno));
        _exit(2);
      }
    }
    globfree(&found);
  }
}

// Several Pythons may share a folder of programs: the package of the same version goes first.
void go_on_beside(const char* file, char** arguments) {
  char prefix[PATH_MAX], pattern[2 * PATH_MAX];
  if (!prefix_of(file, prefix)) return;
  escape(prefix, pattern);
  go_on(pattern, "dtype_guard-" DTYPE_GUARD_VERSION ".dist-info", arguments);
  go_on(pattern, "dtype_guard", arguments);
}

// `path` becomes where that link leads; false where it is none.
bool follow(char (&path)[PATH_MAX]) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return false;
  target[length] = '\0';
  char* slash = std::strrchr(path, '/');
  char* to = target[0] == '/' || slash == nullptr ? path : slash + 1;
  const std::size_t room = sizeof path - static_cast<std::size_t>(to - path);
  return static_cast<std::size_t>(std::snprintf(to, room, "%s", target)) < room;
}

}  // namespace

int main(int, char** arguments) {
  char path[PATH_MAX];
  if (!find_self(path)) {
    std::fprintf(
        stderr,
        "%s: /proc is not mounted, by which this program finds its package; run 'python -m dtype_guard'\n",
        arguments[0]);
    return 2;
  }
  go_on_beside(path, arguments);
  // An installer may have put links into the folder of programs (uv with --link-mode symlink): the package
  // lies beside one of those that lead here.
  char link[PATH_MAX];
  const auto* called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  std::snprintf(link, sizeof link, "%s", called != nullptr ? called : path);
  constexpr int kLongest = 40;
  for (int i = 0; i < kLongest; ++i) {
    go_on_beside(link, arguments);
    if (!follow(link)) break;
  }
  char prefix[PATH_MAX] = "";
  (void)prefix_of(path, prefix);
  std::fprintf(stderr,
               "%s: no package dtype_guard with this program in a folder for Python's packages below %s; run "
               "'python -m dtype_guard', or install dtype-guard again\n",
               name, prefix);
  return 2;
}
