// Has nothing to do with attention: under dtype-san it must behave as without.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern char** environ;

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  std::printf("out: %d arguments\n", argc);
  std::fprintf(stderr, "err: %s\n", mode.c_str());
  // The descriptors that are open, without the one that reads the list.
  std::vector<int> open_descriptors;
  DIR* list = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(list))
    if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != dirfd(list))
      open_descriptors.push_back(std::atoi(entry->d_name));
  closedir(list);
  std::sort(open_descriptors.begin(), open_descriptors.end());
  for (int descriptor : open_descriptors) std::printf("open: %d\n", descriptor);
  if (mode == "abort") std::abort();
  if (mode == "kill") raise(SIGKILL);
  return 7;
}
