# Chooses the unwinder that is linked into the preloaded library, static and hidden. libunwind is the faster one, but
# on Debian and Ubuntu libunwind.a holds code that is not position independent (R_X86_64_32S relocations in nearly
# every member), which the linker refuses in a shared library. So it is tried, and libgcc_eh.a taken otherwise.
set(DTYPE_SAN_UNWINDER_SOURCE capture/stack_with_libgcc.cpp)
set(DTYPE_SAN_UNWINDER_LIBRARIES "")

find_path(LIBUNWIND_INCLUDE_DIR libunwind.h)
find_library(LIBUNWIND_STATIC_LIBRARY libunwind.a)
find_library(LIBLZMA_STATIC_LIBRARY liblzma.a)

if(LIBUNWIND_INCLUDE_DIR AND LIBUNWIND_STATIC_LIBRARY)
  set(archives "${LIBUNWIND_STATIC_LIBRARY}")
  if(LIBLZMA_STATIC_LIBRARY)
    list(APPEND archives "${LIBLZMA_STATIC_LIBRARY}")
  endif()
  if(NOT DEFINED DTYPE_SAN_LIBUNWIND_WORKS)
    # A project of its own, because try_compile of sources links an executable, where such an archive does no harm.
    try_compile(DTYPE_SAN_LIBUNWIND_WORKS
      "${CMAKE_CURRENT_BINARY_DIR}/probe_libunwind" "${CMAKE_CURRENT_LIST_DIR}/probe_libunwind" probe_libunwind
      CMAKE_FLAGS "-DINCLUDE_DIR=${LIBUNWIND_INCLUDE_DIR}" "-DARCHIVES=${archives}")
  endif()
  if(DTYPE_SAN_LIBUNWIND_WORKS)
    set(DTYPE_SAN_UNWINDER_SOURCE capture/stack_with_libunwind.cpp)
    set(DTYPE_SAN_UNWINDER_LIBRARIES ${archives})
  endif()
endif()

if(DTYPE_SAN_LIBUNWIND_WORKS)
  set(chosen "libunwind, static")
else()
  set(chosen "libgcc_eh, static (no libunwind.a that can go into a shared library)")
endif()
if(COMMAND dtype_guard_summary)
  dtype_guard_summary(UNWINDER "${chosen}")
else()
  message(STATUS "dtype-san unwinder: ${chosen}")
endif()
