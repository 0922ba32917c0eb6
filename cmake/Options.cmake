# Every switch of the build, in one place.
#   DTYPE_GUARD_ANALYZER  ON|OFF        dtype-lint; needs LLVM and Clang development packages
#   DTYPE_GUARD_CUDA      auto|on|off   CUDA kernels and the CUPTI source
#   DTYPE_GUARD_TORCH     auto|on|off   examples and tests that link libtorch
#   DTYPE_GUARD_WERROR    ON|OFF        warnings are errors (CI)
#   DTYPE_GUARD_SANITIZE  empty, or a -fsanitize= list such as address,undefined
option(DTYPE_GUARD_ANALYZER "Build dtype-lint" ON)
option(DTYPE_GUARD_WERROR "Treat warnings as errors" OFF)
set(DTYPE_GUARD_CUDA auto CACHE STRING "CUDA kernels and CUPTI source: auto, on or off")
set(DTYPE_GUARD_TORCH auto CACHE STRING "libtorch examples and tests: auto, on or off")
set(DTYPE_GUARD_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(dtype_guard_options INTERFACE)
target_include_directories(dtype_guard_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>")
target_compile_options(dtype_guard_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<BOOL:${DTYPE_GUARD_WERROR}>:-Werror>)
if(DTYPE_GUARD_SANITIZE)
  target_compile_options(dtype_guard_options INTERFACE -fsanitize=${DTYPE_GUARD_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(dtype_guard_options INTERFACE -fsanitize=${DTYPE_GUARD_SANITIZE})
endif()
