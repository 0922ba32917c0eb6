// Where a hook sends its call on to: the kernel that the caller would have reached without this library.
//
// The loader binds a call to the first definition in the global scope (the objects present at start, in load
// order) and then in the caller's own dependencies. The same order is followed here. An object of the start
// is never unloaded, so its kernel is kept; a kernel in a library that was opened later is looked up at each
// call, because it may be closed and opened again elsewhere, and two callers may have two copies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

// Notes which objects the program started with; called when this library is loaded.
void note_start_objects();

struct KernelLocation {
  void* address = nullptr;
  bool permanent = false;  // may be kept
};

// `caller` is an address in the calling function.
KernelLocation find_kernel(const char* name, std::uintptr_t caller);

// What RTLD_NEXT means to the caller, when this library is not there.
void* next_after(const char* name, std::uintptr_t caller);

// The address of the function of this library that carries a kernel's name.
std::uintptr_t own_export(const char* name);

}  // namespace dtype_guard::san
