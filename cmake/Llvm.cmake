# LLVM and the Clang that belongs to it, newest release first. LLVM's version file accepts an exact major.minor
# only, so each release is asked for in turn; one whose Clang is not installed beside it does not count.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/packages/packages.tsv" releases REGEX "^llvm-releases")
string(REGEX MATCHALL "[0-9]+" releases "${releases}")
foreach(release IN LISTS releases)
  find_package(LLVM ${release}.1 CONFIG QUIET)
  if(LLVM_FOUND)
    find_package(Clang CONFIG QUIET HINTS "${LLVM_DIR}/../clang" "${LLVM_LIBRARY_DIR}/cmake/clang" NO_DEFAULT_PATH)
  endif()
  if(Clang_FOUND)
    break()
  endif()
  unset(LLVM_DIR CACHE)
  unset(Clang_DIR CACHE)
endforeach()

if(NOT Clang_FOUND)
  list(JOIN releases ", " releases)
  message(FATAL_ERROR "dtype-lint needs the development files of LLVM and Clang (one of ${releases}), and none were "
    "found. Run cmake/packages/install.sh, or pass -DCMAKE_PREFIX_PATH=DIR of an LLVM, or configure with "
    "-DDTYPE_GUARD_CLANG=OFF for a dtype-lint that reads Python alone, or with -DDTYPE_GUARD_ANALYZER=OFF for none.")
endif()
include(LlvmLibraries)
dtype_guard_summary(ANALYZER "Clang ${LLVM_PACKAGE_VERSION}, ${LLVM_INSTALL_PREFIX}, ${DTYPE_GUARD_CLANG_KIND} libraries")
