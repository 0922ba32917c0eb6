# What the build takes from the system. Each package's reason is in cmake/packages/ and the README.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(DLPACK_INCLUDE_DIR dlpack/dlpack.h REQUIRED)

if(DTYPE_GUARD_ANALYZER)
  # LLVM's version file accepts an exact major.minor only, so ask for each release in turn, newest first.
  foreach(version 22.1 21.1 20.1 19.1)
    find_package(LLVM ${version} CONFIG QUIET)
    if(LLVM_FOUND)
      break()
    endif()
  endforeach()
  find_package(Clang CONFIG REQUIRED HINTS "${LLVM_INSTALL_PREFIX}/lib/cmake/clang" NO_DEFAULT_PATH)
endif()

if(NOT DTYPE_GUARD_TORCH STREQUAL "off")
  find_package(Torch QUIET)
endif()
