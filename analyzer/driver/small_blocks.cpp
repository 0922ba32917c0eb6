// What operator new gives while dtype-lint runs. The engine makes and drops some hundred million small
// vectors and tree nodes, of a few sizes: a row of free places for each size and thread takes less time than
// a heap that serves all programs, and no room for headers. They lie in one range of addresses, so that a
// place tells what it is. Whatever is larger, and everything where there is no such range, comes from malloc.
//
// On the 85 files of vit_pytorch, one job, least of three rounds in turn on a loaded machine: 1.38 s of
// processor time and 65 MB; with glibc 2.36's malloc 1.70 s and 61 MB, with mimalloc 2.0.9 (preloaded) 1.42 s
// and 64 MB, with jemalloc 5.3 (preloaded) 1.38 s and 63 MB. So a packaged heap would do as well: this one
// spares each build a library, that of the wheel for older systems before all, which is linked with another
// toolchain.
#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DTYPE_GUARD_IS_SANITIZED
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(DTYPE_GUARD_IS_SANITIZED)

namespace {

constexpr std::size_t kGrain = 16;
constexpr std::size_t kLargest = 512;
constexpr std::size_t kSizes = kLargest / kGrain;
constexpr std::size_t kPage = std::size_t{64} << 10U;   // holds places of one size
constexpr std::size_t kRange = std::size_t{64} << 30U;  // of addresses, not of memory
constexpr std::size_t kPages = kRange / kPage;

struct Place {
  Place* next;
};
// The free places of one thread; what it leaves behind is for the next that begins.
struct Rows {
  std::array<Place*, kSizes> free;
  Rows* next;
};

struct Range {
  char* begin = nullptr;
  std::atomic<std::size_t> pages = 0;  // that are in use
  std::array<std::uint8_t, kPages> size_of_page = {};
};
constinit Range range;
constinit std::atomic_flag asked_for_range = ATOMIC_FLAG_INIT;
constinit std::atomic<bool> has_range = false;

constinit std::atomic_flag left_is_locked = ATOMIC_FLAG_INIT;
constinit Rows* left = nullptr;  // of threads that ended

void lock_left() {
  while (left_is_locked.test_and_set(std::memory_order_acquire)) {
  }
}
void unlock_left() { left_is_locked.clear(std::memory_order_release); }

class Left {
 public:
  Left() { lock_left(); }
  ~Left() { unlock_left(); }
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;
};

constinit thread_local Rows* rows = nullptr;
constinit thread_local bool has_ended = false;

struct AtEnd {
  ~AtEnd() {
    has_ended = true;
    if (!rows) return;
    const Left lock;
    rows->next = left;
    left = rows;
    rows = nullptr;
  }
};

bool make_range() {
  if (!asked_for_range.test_and_set()) {
    void* const place =
        mmap(nullptr, kRange, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place != MAP_FAILED) {
      range.begin = static_cast<char*>(place);
      pthread_atfork(lock_left, unlock_left, unlock_left);  // or a child waits for a thread that it lacks
      has_range.store(true, std::memory_order_release);
    }
  }
  return has_range.load(std::memory_order_acquire);
}

// Null where there are none to have.
Rows* begin_rows() {
  if (has_ended || !make_range()) return nullptr;
  {
    const Left lock;
    if (left) {
      rows = left;
      left = left->next;
    }
  }
  if (!rows) rows = static_cast<Rows*>(std::calloc(1, sizeof(Rows)));
  static thread_local AtEnd at_end;
  static_cast<void>(at_end);
  return rows;
}

// The places of a page that is begun, all but one of which are free.
void* from_new_page(std::size_t at) {
  const std::size_t number = range.pages.fetch_add(1, std::memory_order_relaxed);
  if (number >= kPages) return nullptr;
  range.size_of_page[number] = static_cast<std::uint8_t>(at);
  char* const page = range.begin + number * kPage;
  const std::size_t size = (at + 1) * kGrain;
  Place* last = nullptr;
  for (std::size_t offset = kPage / size * size; offset > size;) {
    offset -= size;
    auto* const place = reinterpret_cast<Place*>(page + offset);
    place->next = last;
    last = place;
  }
  rows->free[at] = last;
  return page;
}

void* small_place(std::size_t size) {
  if (!rows && !begin_rows()) return nullptr;
  const std::size_t at = (size ? size - 1 : 0) / kGrain;
  Place* const place = rows->free[at];
  if (!place) return from_new_page(at);
  rows->free[at] = place->next;
  return place;
}

void* place_for(std::size_t size) noexcept {
  if (size <= kLargest) {
    if (void* const place = small_place(size)) return place;
  }
  return std::malloc(size ? size : 1);
}

void give_back(void* given) noexcept {
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(given) - reinterpret_cast<std::uintptr_t>(range.begin);
  if (offset >= kRange || !range.begin) return std::free(given);
  if (!rows && !begin_rows()) return;  // the thread is at its end
  auto* const place = static_cast<Place*>(given);
  const std::size_t at = range.size_of_page[offset / kPage];
  place->next = rows->free[at];
  rows->free[at] = place;
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* const place = place_for(size)) return place;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*none*/) noexcept { return place_for(size); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& /*none*/) noexcept { return place_for(size); }
void operator delete(void* place) noexcept { give_back(place); }
void operator delete(void* place, std::size_t /*size*/) noexcept { give_back(place); }
void operator delete(void* place, const std::nothrow_t& /*none*/) noexcept { give_back(place); }
void operator delete[](void* place) noexcept { give_back(place); }
void operator delete[](void* place, std::size_t /*size*/) noexcept { give_back(place); }
void operator delete[](void* place, const std::nothrow_t& /*none*/) noexcept { give_back(place); }

#endif
