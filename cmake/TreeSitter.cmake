# The parser for Python: tree-sitter's runtime and its Python grammar, as the library dtype_guard_tree_sitter. Both are
# source distributions, pinned by hash in packages/tree-sitter.txt, downloaded once and kept outside the build folder, so
# that a later build needs no network. No Python is needed to run what is built.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(archives "$ENV{XDG_CACHE_HOME}/dtype-guard")
else()
  set(archives "$ENV{HOME}/.cache/dtype-guard")
endif()
set(DTYPE_GUARD_ARCHIVES "${archives}" CACHE PATH "Where downloaded source archives are kept")
set(pins "${CMAKE_CURRENT_LIST_DIR}/packages/tree-sitter.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${pins}")

# The pinned packages and where each is kept; `lacking` are those that are not there.
file(STRINGS "${pins}" rows REGEX "^[^#]")
set(wanted)
set(lacking)
foreach(row IN LISTS rows)
  string(REGEX MATCH "^([^=]+)==([^ ]+) --hash=sha256:([0-9a-f]+)$" matched "${row}")
  if(NOT matched)
    message(FATAL_ERROR "${pins}: '${row}' is not NAME==VERSION --hash=sha256:HASH")
  endif()
  set(name "${CMAKE_MATCH_1}")
  set(hash_of_${name} "${CMAKE_MATCH_3}")
  set(version_of_${name} "${CMAKE_MATCH_2}")
  # Since PEP 625 archives are named with underscores; older ones are not.
  string(REPLACE "-" "[-_]" pattern "${name}-${CMAKE_MATCH_2}.tar.gz")
  file(GLOB found "${DTYPE_GUARD_ARCHIVES}/*.tar.gz")
  list(FILTER found INCLUDE REGEX "/${pattern}$")
  set(archive_of_${name} "")
  foreach(each IN LISTS found)
    file(SHA256 "${each}" hash)
    if(hash STREQUAL hash_of_${name})
      set(archive_of_${name} "${each}")
    endif()
  endforeach()
  list(APPEND wanted "${name}")
  if(NOT archive_of_${name})
    list(APPEND lacking "${name} ${version_of_${name}}")
  endif()
endforeach()

if(lacking AND NOT DTYPE_GUARD_FETCHED_TREE_SITTER)
  find_program(DTYPE_GUARD_PIP_PYTHON NAMES python3 DOC "A Python whose pip downloads source archives")
  mark_as_advanced(DTYPE_GUARD_PIP_PYTHON)
  message(STATUS "Downloading the parser for Python into ${DTYPE_GUARD_ARCHIVES}")
  file(MAKE_DIRECTORY "${DTYPE_GUARD_ARCHIVES}")
  execute_process(
    COMMAND "${DTYPE_GUARD_PIP_PYTHON}" -m pip download --quiet --no-deps --no-binary :all: --require-hashes
            --dest "${DTYPE_GUARD_ARCHIVES}" --requirement "${pins}"
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(DTYPE_GUARD_FETCHED_TREE_SITTER ON)
  if(status EQUAL 0)
    include("${CMAKE_CURRENT_LIST_FILE}")
    return()
  endif()
  string(REGEX REPLACE "\n.*" "" said "${said}")
endif()
if(lacking)
  list(JOIN lacking ", " lacking)
  message(FATAL_ERROR "dtype-lint reads Python with tree-sitter, and its source archives are not in "
    "${DTYPE_GUARD_ARCHIVES}: ${lacking}. Downloading them failed: ${said}\n"
    "With a network, run 'python3 -m pip download --no-deps --no-binary :all: --require-hashes --dest "
    "${DTYPE_GUARD_ARCHIVES} -r ${pins}' and configure again; without one, copy both archives there from a machine "
    "that has them, or pass -DDTYPE_GUARD_ARCHIVES=DIR; or leave dtype-lint out with -DDTYPE_GUARD_ANALYZER=OFF.")
endif()

set(sources "${PROJECT_BINARY_DIR}/tree-sitter")
foreach(name IN LISTS wanted)
  set(stamp "${sources}/${hash_of_${name}}")
  if(NOT EXISTS "${stamp}")
    file(ARCHIVE_EXTRACT INPUT "${archive_of_${name}}" DESTINATION "${sources}")
    file(TOUCH "${stamp}")
  endif()
endforeach()
set(runtime "${sources}/tree-sitter-${version_of_tree-sitter}/tree_sitter/core/lib")
set(grammar "${sources}/tree_sitter_python-${version_of_tree-sitter-python}/src")
# The grammar includes "tree_sitter/parser.h" and its kin, which the runtime keeps among its own sources.
foreach(header IN ITEMS alloc.h array.h parser.h ts_assert.h)
  configure_file("${runtime}/src/${header}" "${sources}/include/tree_sitter/${header}" COPYONLY)
endforeach()
add_library(dtype_guard_tree_sitter STATIC "${runtime}/src/lib.c" "${grammar}/parser.c" "${grammar}/scanner.c")
set_source_files_properties("${runtime}/src/lib.c" TARGET_DIRECTORY dtype_guard_tree_sitter
  PROPERTIES INCLUDE_DIRECTORIES "${runtime}/src")
target_include_directories(dtype_guard_tree_sitter SYSTEM PUBLIC "${runtime}/include" PRIVATE "${sources}/include")
target_compile_options(dtype_guard_tree_sitter PRIVATE -w)
# Its memory comes from the parse that goes on; with a sanitizer each block is one of its own.
if(NOT DTYPE_GUARD_SANITIZE)
  target_sources(dtype_guard_tree_sitter PRIVATE "${PROJECT_SOURCE_DIR}/analyzer/python/parser_memory.cpp")
  target_include_directories(dtype_guard_tree_sitter PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(dtype_guard_tree_sitter INTERFACE DTYPE_GUARD_PARSER_MEMORY)
  set_property(SOURCE "${runtime}/src/lib.c" TARGET_DIRECTORY dtype_guard_tree_sitter APPEND PROPERTY COMPILE_OPTIONS
    -DDTYPE_GUARD_OF_TREE_SITTER -include "${PROJECT_SOURCE_DIR}/analyzer/python/parser_memory.h")
endif()
dtype_guard_summary(PYTHON "tree-sitter-python ${version_of_tree-sitter-python}, from ${DTYPE_GUARD_ARCHIVES}")
