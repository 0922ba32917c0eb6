// What an installer puts into a folder of programs: finds the package dtype_guard from there and goes on as
// the program of the same name inside it. So an environment can be moved, and no Python starts.
#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace {

// Of an environment, a user, a system or a prefix; of PyPy before 7.3.8; of `pip install --target`.
constexpr const char* kPackageFolders[] = {"lib*/*/site-packages", "lib*/*/dist-packages", "site-packages",
                                           "."};

struct Self {
  char prefix[2 * PATH_MAX];  // the folder above that of the programs, spelled as a pattern
  char name[NAME_MAX + 1];
};

bool find_self(Self& self) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  char* slash = std::strrchr(path, '/');
  std::snprintf(self.name, sizeof self.name, "%s", slash + 1);
  *slash = '\0';
  slash = std::strrchr(path, '/');
  *(slash == nullptr ? path : slash) = '\0';
  char* to = self.prefix;
  for (const char* from = path; *from != '\0'; *to++ = *from++)
    if (std::strchr("*?[]\\", *from) != nullptr) *to++ = '\\';
  *to = '\0';
  return true;
}

// Goes on as the program in the first package whose folder has `beside` too; comes back where there is none.
void go_on(const Self& self, const char* beside, char** arguments) {
  for (const char* folder : kPackageFolders) {
    char pattern[3 * PATH_MAX];
    std::snprintf(pattern, sizeof pattern, "%s/%s/%s", self.prefix, folder, beside);
    glob_t found;
    if (glob(pattern, 0, nullptr, &found) == 0) {
      for (std::size_t at = 0; at < found.gl_pathc; ++at) {
        char program[2 * PATH_MAX];
        const char* end = std::strrchr(found.gl_pathv[at], '/');
        std::snprintf(program, sizeof program, "%.*s/dtype_guard/installed/bin/%s",
                      static_cast<int>(end - found.gl_pathv[at]), found.gl_pathv[at], self.name);
        execv(program, arguments);
        if (errno == ENOENT) continue;
        std::fprintf(stderr, "%s: %s cannot be run: %s\n", self.name, program, std::strerror(errno));
        _exit(2);
      }
    }
    globfree(&found);
  }
}

}  // namespace

int main(int, char** arguments) {
  Self self;
  if (!find_self(self)) {
    std::fprintf(
        stderr,
        "%s: /proc is not mounted, by which this program finds its package; run 'python -m dtype_guard'\n",
        arguments[0]);
    return 2;
  }
  // Several Pythons may share a folder of programs: the package of the same version goes first.
  go_on(self, "dtype_guard-" DTYPE_GUARD_VERSION ".dist-info", arguments);
  go_on(self, "dtype_guard", arguments);
  std::fprintf(stderr,
               "%s: no package dtype_guard with this program in a folder for Python's packages below %s; run "
               "'python -m dtype_guard', or install dtype-guard again\n",
               self.name, self.prefix);
  return 2;
}
