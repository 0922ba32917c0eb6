#include "sanitizer/process/bare_children.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <string_view>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"
#include "sanitizer/platform/system.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

struct Page {
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> last;  // process id: a search along PATH is one child
};

constinit Page* page = nullptr;
constinit std::uint64_t page_owner = 0;
constinit char own_name[256] = {};

// As LD_PRELOAD has it, or would; empty when it has not, unless the process was joined.
void find_own_name() {
  const char* preloaded = getenv("LD_PRELOAD");
  each_loaded_object([&](const LoadedObject& object) {
    if (!is_own_code(object.bias)) return true;
    const char* slash = strrchr(object.path, '/');
    const char* name = slash != nullptr ? slash + 1 : object.path;
    const bool is_named = was_joined() || (preloaded != nullptr && strstr(preloaded, name) != nullptr);
    if (is_named && strlen(name) < sizeof own_name) strncpy(own_name, name, sizeof own_name - 1);
    return false;
  });
}

// The library is in it, or is meant not to be (enabled=0). True where that cannot be told: what cannot be
// read is for the kernel to find out.
bool is_accounted_for(const char* const* variables) {
  constexpr std::string_view kPreload = "LD_PRELOAD=", kOptions = "DTYPE_SAN_OPTIONS=";
  for (; variables != nullptr; ++variables) {
    const char* entry = nullptr;
    if (!read_memory(variables, &entry, sizeof entry)) return true;
    if (entry == nullptr) return false;
    char buffer[1024];
    std::string_view text(buffer, read_some(entry, buffer, kOptions.size()));
    const bool is_preload = text.starts_with(kPreload);
    if (!is_preload && text != kOptions) continue;
    text = {buffer, read_some(entry, buffer, sizeof buffer)};
    const std::size_t end = text.find('\0');
    if (is_preload) {
      if (end == text.npos || text.substr(0, end).find(own_name) != text.npos) return true;
    } else if (text.substr(0, end).find("enabled=0") != text.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

void expect_bare_children() {
  if (!settings().follow_children) return;
  if (own_name[0] == '\0') find_own_name();
  if (own_name[0] == '\0') return;
  // A forked child leaves its parent's page, at the same place.
  void* fresh = mmap(page, sizeof(Page), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | (page != nullptr ? MAP_FIXED : 0), -1, 0);
  if (fresh == MAP_FAILED) return;
  page_owner = process_id();
  page = static_cast<Page*>(fresh);
}

void note_environment(const char* const* variables) {
  if (page == nullptr) return;
  const std::uint64_t child = process_id();
  if (child == page_owner || is_accounted_for(variables)) return;
  if (page->last.exchange(child, std::memory_order_relaxed) != child)
    page->count.fetch_add(1, std::memory_order_relaxed);
}

void note_spawned(const char* const* variables) {
  if (page != nullptr && !is_accounted_for(variables)) page->count.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t take_bare_children() {
  if (page == nullptr || process_id() != page_owner) return 0;
  return page->count.exchange(0, std::memory_order_relaxed);
}

}  // namespace dtype_guard::san
