# Every switch of the build, in one place.
#   DTYPE_GUARD_ANALYZER  ON|OFF        dtype-lint
#   DTYPE_GUARD_CLANG     ON|OFF        its C++ front end, which needs LLVM and Clang development packages; OFF makes a
#                                       dtype-lint for Python alone. Without the analyzer it has no meaning
#   DTYPE_GUARD_CUDA      auto|on|off   kernels for CUDA devices; needs the toolkit (cmake/Cuda.cmake has one more)
#   DTYPE_GUARD_TORCH     auto|on|off   examples and tests that link libtorch
#   DTYPE_GUARD_WERROR    ON|OFF        warnings are errors (CI)
#   DTYPE_GUARD_SANITIZE  empty, or a -fsanitize= list such as address,undefined
# auto takes what is there and says so; on fails with the cure where it is missing.
set(DTYPE_GUARD_ANALYZER ON CACHE BOOL "Build dtype-lint")
set(DTYPE_GUARD_CLANG ON CACHE BOOL "The C++ front end of dtype-lint; OFF: Python alone")
set(DTYPE_GUARD_CUDA auto CACHE STRING "Parts that need the CUDA toolkit: auto, on or off")
set(DTYPE_GUARD_TORCH auto CACHE STRING "Examples and tests that link libtorch: auto, on or off")
set(DTYPE_GUARD_WERROR OFF CACHE BOOL "Treat warnings as errors")
set(DTYPE_GUARD_HOME_PAGE "" CACHE STRING "Address of the project's page, for SARIF reports (informationUri)")
set(DTYPE_GUARD_RULE_PAGES "" CACHE STRING "Address of the folder with the rules' pages ID.md, for SARIF reports (helpUri)")
set(DTYPE_GUARD_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

# Refuses a value that is not in the list of accepted ones, and settles its spelling.
function(dtype_guard_check_option name)
  string(TOLOWER "${${name}}" value)
  if(NOT value IN_LIST ARGN)
    list(JOIN ARGN ", " accepted)
    message(FATAL_ERROR "${name} is '${${name}}'; expected one of: ${accepted}")
  endif()
  set(${name} "${value}" PARENT_SCOPE)
endfunction()

set(boolean_values on off true false yes no 1 0)
dtype_guard_check_option(DTYPE_GUARD_ANALYZER ${boolean_values})
dtype_guard_check_option(DTYPE_GUARD_CLANG ${boolean_values})
dtype_guard_check_option(DTYPE_GUARD_WERROR ${boolean_values})
dtype_guard_check_option(DTYPE_GUARD_CUDA auto on off)
dtype_guard_check_option(DTYPE_GUARD_TORCH auto on off)
set_property(CACHE DTYPE_GUARD_CUDA DTYPE_GUARD_TORCH PROPERTY STRINGS auto on off)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(DTYPE_GUARD_CCACHE ccache)
  mark_as_advanced(DTYPE_GUARD_CCACHE)
  if(DTYPE_GUARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # ccache passes what is compiled with a precompiled header on to the compiler, unless it is told what may differ.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${DTYPE_GUARD_CCACHE}")
  endif()
  if(DTYPE_GUARD_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${DTYPE_GUARD_CCACHE}")
  endif()
endif()

# Every target of the project links this one privately: the root as include folder, warnings, instrumentation.
add_library(dtype_guard_options INTERFACE)
target_include_directories(dtype_guard_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>")
target_compile_options(dtype_guard_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<BOOL:${DTYPE_GUARD_WERROR}>:-Werror>)
# GCC before 13 warns about std::string = "literal" in its own header (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(dtype_guard_options INTERFACE -Wno-restrict)
endif()
if(DTYPE_GUARD_SANITIZE)
  # GCC sees uninitialized variables in its own instrumentation.
  target_compile_options(dtype_guard_options INTERFACE -fsanitize=${DTYPE_GUARD_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_link_options(dtype_guard_options INTERFACE -fsanitize=${DTYPE_GUARD_SANITIZE})
endif()
