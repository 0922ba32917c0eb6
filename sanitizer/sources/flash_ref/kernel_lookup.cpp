#include "sanitizer/sources/flash_ref/kernel_lookup.h"

#include <atomic>
#include <bitset>
#include <cstring>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"

namespace dtype_guard::san {
namespace {

std::atomic<std::size_t> start_object_count{0};

constexpr std::size_t kMaxObjects = 512;

bool is_own(const LoadedObject& object) { return is_own_code(object.bias) || object.is_sanitizer(); }

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool answers_to(const LoadedObject& object, const char* needed) {
  return std::strcmp(base_name(object.path), base_name(needed)) == 0 ||
         std::strcmp(object.soname(), needed) == 0;
}

// The caller's object and what it needs, breadth first: the loader's local scope. It keeps numbers of objects
// and not the objects, for the stack that it runs on may be a thread's of a few pages.
class DependencySearch {
 public:
  DependencySearch(const char* name, std::uintptr_t caller) : name_(name) {
    each_loaded_object([&](const LoadedObject& object) {
      if (object.contains(caller)) enqueue(object.index);
      return true;
    });
  }

  void* run() {
    for (std::size_t next = 0; next < queued_; ++next)
      if (void* found = look_at(queue_[next])) return found;
    return nullptr;
  }

 private:
  // The kernel in that object; what it needs comes after it. Within the same lock of the loader's list.
  void* look_at(std::size_t index) {
    void* found = nullptr;
    each_loaded_object([&](const LoadedObject& object) {
      if (object.index != index) return true;
      if (!is_own(object)) found = object.find_function(name_);
      if (found == nullptr)
        object.each_needed(
            [](void* self, const char* needed) { static_cast<DependencySearch*>(self)->add(needed); }, this);
      return false;
    });
    return found;
  }
  void add(const char* needed) {
    each_loaded_object([&](const LoadedObject& object) {
      if (!answers_to(object, needed)) return true;
      enqueue(object.index);
      return false;
    });
  }
  void enqueue(std::size_t index) {
    if (index >= kMaxObjects || seen_[index]) return;
    seen_.set(index);
    queue_[queued_++] = static_cast<std::uint16_t>(index);
  }

  const char* name_;
  std::bitset<kMaxObjects> seen_;
  std::uint16_t queue_[kMaxObjects];
  std::size_t queued_ = 0;
};

// Apart: its room on the stack is taken only where it is needed.
[[gnu::noinline]] void* find_in_dependencies(const char* name, std::uintptr_t caller) {
  return DependencySearch(name, caller).run();
}

}  // namespace

void note_start_objects() {
  std::size_t count = 0;
  each_loaded_object([&](const LoadedObject&) { return ++count != 0; });
  start_object_count.store(count, std::memory_order_relaxed);
}

KernelLocation find_kernel(const char* name, std::uintptr_t caller) {
  std::size_t start_count = start_object_count.load(std::memory_order_relaxed);
  void* at_start = nullptr;
  void* first_later = nullptr;
  std::size_t later_count = 0;
  bool past_own = false;
  each_loaded_object([&](const LoadedObject& object) {
    if (is_own(object)) {
      past_own = true;
      return true;
    }
    // An object before ours would have been called instead of us, or is calling on: never send a call back to
    // it.
    void* found = past_own ? object.find_function(name) : nullptr;
    if (found == nullptr) return true;
    if (object.index < start_count) {
      at_start = found;
      return false;
    }
    if (first_later == nullptr) first_later = found;
    ++later_count;
    return true;
  });
  if (at_start != nullptr) return {at_start, true};
  if (later_count <= 1) return {first_later, false};
  void* in_scope = find_in_dependencies(name, caller);
  return {in_scope != nullptr ? in_scope : first_later, false};
}

void* next_after(const char* name, std::uintptr_t caller) {
  bool past_caller = false;
  void* found = nullptr;
  each_loaded_object([&](const LoadedObject& object) {
    if (object.contains(caller)) {
      past_caller = true;
    } else if (past_caller && !is_own(object)) {
      found = object.find_function(name);
    }
    return found == nullptr;
  });
  return found;
}

std::uintptr_t own_export(const char* name) {
  void* found = nullptr;
  each_loaded_object([&](const LoadedObject& object) {
    if (!is_own(object)) return true;
    found = object.find_function(name);
    return false;
  });
  return reinterpret_cast<std::uintptr_t>(found);
}

}  // namespace dtype_guard::san
