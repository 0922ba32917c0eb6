# What the build takes from the system; cmake/packages/packages.tsv has each package and its reason.
include(Summary)

# An optional need: `found` decides under auto, a missing one under on is an error with its cure.
# Sets DTYPE_GUARD_HAS_<part> for the folders.
function(dtype_guard_settle part found detail missing cure)
  set(asked "${DTYPE_GUARD_${part}}")
  if(asked STREQUAL "on" AND NOT found)
    message(FATAL_ERROR "DTYPE_GUARD_${part} is on, but ${missing}. ${cure}")
  endif()
  set(DTYPE_GUARD_HAS_${part} OFF PARENT_SCOPE)
  if(asked STREQUAL "off")
    dtype_guard_summary(${part} "left out: DTYPE_GUARD_${part} is off")
  elseif(found)
    set(DTYPE_GUARD_HAS_${part} ON PARENT_SCOPE)
    dtype_guard_summary(${part} "${detail}")
  else()
    dtype_guard_summary(${part} "left out: ${missing}")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
include(Portable)
find_package(CLI11 REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(DLPACK_INCLUDE_DIR dlpack/dlpack.h REQUIRED)

# dtype-lint with its C++ front end.
set(DTYPE_GUARD_HAS_CLANG OFF)
if(NOT DTYPE_GUARD_ANALYZER)
  dtype_guard_summary(ANALYZER "left out: DTYPE_GUARD_ANALYZER is off")
elseif(DTYPE_GUARD_CLANG)
  set(DTYPE_GUARD_HAS_CLANG ON)
  include(Llvm)
else()
  dtype_guard_summary(ANALYZER "Python alone: DTYPE_GUARD_CLANG is off")
endif()
if(DTYPE_GUARD_ANALYZER)
  find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
  include(TreeSitter)
endif()

include(Cuda)

if(NOT DTYPE_GUARD_TORCH STREQUAL "off")
  find_package(Torch QUIET MODULE)
endif()
dtype_guard_settle(TORCH "${Torch_FOUND}" "libtorch ${Torch_VERSION}, ${TORCH_CPU_LIBRARY}"
  "no libtorch was found"
  "Install libtorch-dev, or pass -DCMAKE_PREFIX_PATH=\"$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')\" for the one inside a PyTorch wheel, or configure with -DDTYPE_GUARD_TORCH=off.")
