// The objects that the dynamic loader has mapped, in load order, and their exported symbols, read from
// memory. dlsym is not used for that: linked today it needs GLIBC_2.34, and it takes its answer from the
// object that calls it.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace dtype_guard::san {

// A word that holds a symbol's address.
struct Binding {
  std::uintptr_t* place;
  const char* symbol;
  bool is_call;   // of the procedure linkage table: bound at the first call, perhaps
  bool is_table;  // of the global offset table, not of the program's own data
};

struct LoadedObject {
  const char* path;  // as the loader knows it; empty for the program itself
  std::uintptr_t bias;
  const ElfW(Phdr) * headers;
  std::size_t header_count;
  std::size_t index;  // in load order

  bool contains(std::uintptr_t address) const;
  bool is_sanitizer() const;  // this library or another copy of it
  // First and last+1 address of its segments.
  void range(std::uintptr_t& low, std::uintptr_t& high) const;
  std::string_view build_id() const;  // bytes; empty without one
  // The content of an allocated ELF note; empty without it.
  std::string_view note(std::string_view owner, std::uint32_t type) const;
  // A function that the object exports, or nullptr.
  void* find_function(const char* name) const;
  void* find_object(const char* name) const;  // a variable
  // Calls visit(context, name) for each DT_NEEDED entry.
  void each_needed(void (*visit)(void* context, const char* name), void* context) const;
  const char* soname() const;  // "" without one
  // The part that the loader made read-only after relocating it; empty range without one.
  void relocated_read_only(std::uintptr_t& low, std::uintptr_t& high) const;
  // Calls visit(context, binding) for each word that the loader sets to a symbol's address.
  void each_binding(void (*visit)(void* context, const Binding& binding), void* context) const;
  template <typename Visitor>
  void each_binding(Visitor&& visitor) const {
    each_binding([](void* context, const Binding& binding) { (*static_cast<Visitor*>(context))(binding); },
                 const_cast<void*>(static_cast<const void*>(&visitor)));
  }
};

// A function that some object after this library exports, found without calling anything: for the time at
// which another library's dl_iterate_phdr may not work yet.
void* find_behind_own(const char* name);

// The same; in a process that was joined, where this library comes last, the first in the order of its
// search.
void* find_original(const char* name);

// The path of another copy of this library that was loaded before this one; nullptr without one. Calls
// nothing either.
const char* earlier_copy();

// Visits until the visitor returns false. The loader's list is locked meanwhile.
void each_loaded_object(bool (*visit)(void* context, const LoadedObject& object), void* context);

template <typename Visitor>
void each_loaded_object(Visitor&& visitor) {
  each_loaded_object(
      [](void* context, const LoadedObject& object) {
        return (*static_cast<std::remove_reference_t<Visitor>*>(context))(object);
      },
      const_cast<void*>(static_cast<const void*>(&visitor)));
}

// The objects of the namespaces that dlmopen makes, which dl_iterate_phdr leaves out; known from glibc 2.35
// on. Their list is locked meanwhile too.
void each_foreign_object(bool (*visit)(void* context, const LoadedObject& object), void* context);

template <typename Visitor>
void each_foreign_object(Visitor&& visitor) {
  each_foreign_object(
      [](void* context, const LoadedObject& object) {
        return (*static_cast<std::remove_reference_t<Visitor>*>(context))(object);
      },
      const_cast<void*>(static_cast<const void*>(&visitor)));
}

// For a walk that takes long, on a thread that is inside dlopen, as a constructor of what it loads is: it
// holds the lock without which no object comes or goes. The one of dl_iterate_phdr, for which other threads
// wait, and without which a forked child cannot do, is taken to copy the list only.
void each_object_inside_dlopen(bool (*visit)(void* context, const LoadedObject& object), void* context);

template <typename Visitor>
void each_object_inside_dlopen(Visitor&& visitor) {
  each_object_inside_dlopen(
      [](void* context, const LoadedObject& object) {
        return (*static_cast<std::remove_reference_t<Visitor>*>(context))(object);
      },
      const_cast<void*>(static_cast<const void*>(&visitor)));
}

// A number that changes when objects come to such namespaces or go; 0 without any. Takes no lock.
std::uint64_t foreign_state();

}  // namespace dtype_guard::san
