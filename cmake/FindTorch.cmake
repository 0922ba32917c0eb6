# libtorch as the imported target dtype_guard_torch; also sets Torch_VERSION and TORCH_CPU_LIBRARY.
#
# libtorch's own TorchConfig.cmake is not used: it stops the configure step when a CUDA libtorch meets a machine
# without the toolkit, looks for protobuf, and leaves its variables in the caller's scope. A program that runs on
# the CPU needs two libraries and two include folders, which lie alike in Debian's package, in a libtorch archive
# and inside a PyTorch wheel. Found through CMAKE_PREFIX_PATH (also torch.utils.cmake_prefix_path), Torch_ROOT
# or Torch_DIR.
set(torch_prefixes ${CMAKE_PREFIX_PATH})
if(Torch_DIR)
  list(APPEND torch_prefixes "${Torch_DIR}/..")
endif()
list(TRANSFORM torch_prefixes APPEND "/../..")  # share/cmake lies two folders below the prefix

find_path(TORCH_API_INCLUDE_DIR torch/torch.h HINTS ${torch_prefixes}
  PATH_SUFFIXES include/torch/csrc/api/include torch/csrc/api/include)
find_library(TORCH_CPU_LIBRARY torch_cpu HINTS ${torch_prefixes} PATH_SUFFIXES lib)
find_library(TORCH_C10_LIBRARY c10 HINTS ${torch_prefixes} PATH_SUFFIXES lib)
mark_as_advanced(TORCH_API_INCLUDE_DIR TORCH_CPU_LIBRARY TORCH_C10_LIBRARY)

if(TORCH_API_INCLUDE_DIR)
  cmake_path(SET torch_include_dir NORMALIZE "${TORCH_API_INCLUDE_DIR}/../../../..")
  set(version_file "${TORCH_API_INCLUDE_DIR}/torch/version.h")
  if(EXISTS "${torch_include_dir}/torch/headeronly/version.h")
    set(version_file "${torch_include_dir}/torch/headeronly/version.h")  # from 2.9 on
  endif()
  file(STRINGS "${version_file}" version_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
  string(REGEX MATCHALL "[0-9]+" version_numbers "${version_lines}")
  list(JOIN version_numbers "." Torch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch REQUIRED_VARS TORCH_CPU_LIBRARY TORCH_C10_LIBRARY TORCH_API_INCLUDE_DIR
  VERSION_VAR Torch_VERSION)

if(Torch_FOUND AND NOT TARGET dtype_guard_torch)
  add_library(dtype_guard_torch INTERFACE IMPORTED)
  target_include_directories(dtype_guard_torch INTERFACE "${torch_include_dir}" "${TORCH_API_INCLUDE_DIR}")
  target_link_libraries(dtype_guard_torch INTERFACE "${TORCH_CPU_LIBRARY}" "${TORCH_C10_LIBRARY}")
  # Wheels before 2.6 use libstdc++'s old string; the choice is written in their TorchConfig.cmake.
  cmake_path(GET TORCH_CPU_LIBRARY PARENT_PATH torch_library_dir)
  find_file(TORCH_CONFIG_FILE TorchConfig.cmake NO_DEFAULT_PATH
    PATHS "${torch_library_dir}/../share/cmake/Torch" "${torch_library_dir}/cmake/Torch")
  mark_as_advanced(TORCH_CONFIG_FILE)
  if(TORCH_CONFIG_FILE)
    file(STRINGS "${TORCH_CONFIG_FILE}" abi_lines REGEX "_GLIBCXX_USE_CXX11_ABI=[01]")
    if(abi_lines MATCHES "_GLIBCXX_USE_CXX11_ABI=([01])")
      target_compile_definitions(dtype_guard_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${CMAKE_MATCH_1})
    endif()
  endif()
endif()
