# What dtype-lint and dtype-san carry themselves, so that a copy of them runs where a library is absent or of another
# release: libstdc++, libfmt, libdw, libelf and what these need. libc and libgcc_s stay shared. Where a static library is
# not installed the shared one is linked; the test of the wheel tells which are left.
set(DTYPE_GUARD_LIBRARIES_CARRIED ON)
if(DTYPE_GUARD_SANITIZE)
  set(DTYPE_GUARD_LIBRARIES_CARRIED OFF)  # an instrumented program takes the libraries that its runtime intercepts
endif()

# The files of `libraries`, static where these and those that they need are all there, else shared. Empty where there are none.
function(dtype_guard_carried_libraries out libraries needs)
  set(static "")
  set(shared "")
  foreach(name IN LISTS libraries needs)
    find_library(DTYPE_GUARD_STATIC_${name} lib${name}.a)
    mark_as_advanced(DTYPE_GUARD_STATIC_${name})
    list(APPEND static "${DTYPE_GUARD_STATIC_${name}}")
  endforeach()
  foreach(name IN LISTS libraries)
    find_library(DTYPE_GUARD_SHARED_${name} ${name})
    mark_as_advanced(DTYPE_GUARD_SHARED_${name})
    list(APPEND shared "${DTYPE_GUARD_SHARED_${name}}")
  endforeach()
  if(DTYPE_GUARD_LIBRARIES_CARRIED AND NOT static MATCHES "NOTFOUND")
    set(${out} "${static}" PARENT_SCOPE)
  elseif(NOT shared MATCHES "NOTFOUND")
    set(${out} "${shared}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

# libfmt, compiled here from its headers: Debian has no static one.
if(DTYPE_GUARD_LIBRARIES_CARRIED)
  add_library(dtype_guard_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/portable/fmt.cpp")
  target_compile_features(dtype_guard_fmt PUBLIC cxx_std_20)
  target_include_directories(dtype_guard_fmt SYSTEM PUBLIC
    $<BUILD_INTERFACE:$<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>>)
else()
  add_library(dtype_guard_fmt INTERFACE)
  target_link_libraries(dtype_guard_fmt INTERFACE fmt::fmt)
endif()
add_library(dtype_guard::fmt ALIAS dtype_guard_fmt)

# libgcc_s stays shared: every distribution has it, and the static one of GCC 12 asks for glibc 2.35.
function(dtype_guard_carry_libraries program)
  if(DTYPE_GUARD_LIBRARIES_CARRIED)
    target_sources(${program} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/portable/arc4random.cpp")
    target_link_options(${program} PRIVATE -static-libstdc++ LINKER:--as-needed)
  endif()
endfunction()
