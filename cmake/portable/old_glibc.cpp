// What glibc 2.17 lacks of that which the programs of the second wheel call (link_for_glibc.py): the same,
// asked of the kernel.
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace {

// Objects of a thread that are destroyed at its end, the last that was made first. Those of the main thread
// are left to the end of the process.
struct AtEnd {
  void (*destroy)(void*);
  void* object;
  AtEnd* next;
};

pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t at_end;

void destroy_all(void* first) {
  for (auto* each = static_cast<AtEnd*>(first); each != nullptr;) {
    AtEnd* const next = each->next;
    each->destroy(each->object);
    free(each);
    each = next;
  }
}

void make_key() {
  if (pthread_key_create(&at_end, destroy_all) != 0) abort();
}

}  // namespace

extern "C" {

int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* /*library*/) {
  pthread_once(&once, make_key);
  auto* const entry = static_cast<AtEnd*>(malloc(sizeof(AtEnd)));
  if (entry == nullptr) return -1;
  *entry = {destroy, object, static_cast<AtEnd*>(pthread_getspecific(at_end))};
  return pthread_setspecific(at_end, entry) == 0 ? 0 : -1;
}

// The static libstdc++ counts references without atomic operations where glibc tells that there is one
// thread. 0: it may be more.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

int memfd_create(const char* name, unsigned flags) {
  return static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

// Kernels before 3.17 have no such call, but the device.
ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  const long got = syscall(SYS_getrandom, buffer, size, flags);
  if (got >= 0 || errno != ENOSYS) return got;
  const int device = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (device < 0) return -1;
  const ssize_t read_bytes = read(device, buffer, size);
  close(device);
  return read_bytes;
}

int getentropy(void* buffer, std::size_t size) {
  ssize_t got;
  do {
    got = getrandom(buffer, size, 0);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size) ? 0 : -1;
}
}
