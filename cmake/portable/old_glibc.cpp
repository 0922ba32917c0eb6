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

// What is to be destroyed when a thread ends, the newest first. Blocks of malloc: an operator new of the
// program may have such an object itself.
struct Ending {
  void (*destroy)(void*);
  void* object;
  Ending* next;
};
thread_local Ending* endings = nullptr;
pthread_key_t thread_end;
pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

void end_thread(void* = nullptr) {
  while (Ending* const newest = endings) {
    endings = newest->next;
    newest->destroy(newest->object);
    std::free(newest);
  }
}

void prepare() {
  // The first thread ends by exit(), which calls no destructor of a key.
  if (pthread_key_create(&thread_end, end_thread) != 0 || std::atexit([] { end_thread(); }) != 0)
    std::abort();
}

}  // namespace

extern "C" {

// Since glibc 2.18; libstdc++ calls it for each thread_local object with a destructor.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* /*library*/) {
  auto* const ending = static_cast<Ending*>(std::malloc(sizeof(Ending)));
  if (ending == nullptr) return -1;
  pthread_once(&is_prepared, prepare);
  *ending = {.destroy = destroy, .object = object, .next = endings};
  endings = ending;
  return pthread_setspecific(thread_end, ending);  // any value that is not null has it called
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
