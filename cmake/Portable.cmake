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

# The second wheel's: `program` linked again, with `clang` in the place of dtype_guard::clang, for a glibc that is as old as the
# preload library can be loaded by. Made by `make wheel` alone, from the objects of the build.
set(DTYPE_GUARD_OLD_GLIBC 2.17)
function(dtype_guard_old_glibc_program program clang)
  if(NOT DTYPE_GUARD_LIBRARIES_CARRIED)
    return()
  endif()
  set(second "${program}_old_glibc")
  add_executable(${second} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}> "${PROJECT_SOURCE_DIR}/cmake/portable/old_glibc.cpp")
  get_target_property(libraries ${program} LINK_LIBRARIES)
  list(TRANSFORM libraries REPLACE "^dtype_guard::clang$" "${clang}")
  target_link_libraries(${second} PRIVATE ${libraries})
  target_link_options(${second} PRIVATE LINKER:--as-needed LINKER:--gc-sections LINKER:--build-id)
  if(NOT TARGET old_glibc)
    add_custom_target(old_glibc)
  endif()
  add_dependencies(old_glibc ${second})
  set_target_properties(${second} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/old_glibc"
    CXX_LINKER_LAUNCHER "${PROJECT_BINARY_DIR}/.wheel-tools/bin/python;${PROJECT_SOURCE_DIR}/cmake/portable/link_for_glibc.py;${DTYPE_GUARD_OLD_GLIBC}")
endfunction()
