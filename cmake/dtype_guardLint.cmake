# dtype_guard_lint(TARGET [PRECISION setting...] [TORCH version] [DEVICE device] [FAIL_ON error|warning|never]
#                  [CONTRACTS file...] [BASELINE file] [OPTIONS option...])
#
# Makes the lint of each C++ and CUDA source of TARGET a step of the build, done again when the source, a header that it
# includes, its flags, the contracts, .dtype-lint.json or dtype-lint change, and a last step that judges them together, as
# one program. That step fails the build as --fail-on says. Call it when the target has all its sources; the steps belong
# to the target lint_TARGET, which is part of `all`. The reports are lint/TARGET.sarif and .json in the binary folder.
function(dtype_guard_lint target)
  cmake_parse_arguments(PARSE_ARGV 1 lint "" "TORCH;DEVICE;FAIL_ON;BASELINE" "PRECISION;CONTRACTS;OPTIONS")
  if(lint_UNPARSED_ARGUMENTS OR lint_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "dtype_guard_lint(${target}): unknown or empty argument: "
      "${lint_UNPARSED_ARGUMENTS} ${lint_KEYWORDS_MISSING_VALUES}; it takes PRECISION, TORCH, DEVICE, FAIL_ON, CONTRACTS, "
      "BASELINE and OPTIONS")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "dtype_guard_lint(${target}): there is no target of that name")
  endif()
  if(NOT TARGET dtype_guard::dtype-lint)
    message(FATAL_ERROR "dtype_guard_lint(${target}): this dtype_guard was built without dtype-lint "
      "(DTYPE_GUARD_ANALYZER=OFF)")
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "dtype_guard_lint(${target}): needs a Ninja or Makefile generator, whose compile commands CMake "
      "writes down; this is ${CMAKE_GENERATOR}")
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS ON)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/lint/${target}")
  file(MAKE_DIRECTORY "${folder}")
  set(program $<TARGET_FILE:dtype_guard::dtype-lint>)
  get_target_property(source_dir ${target} SOURCE_DIR)

  set(common --root "${PROJECT_SOURCE_DIR}")
  set(files "")
  foreach(file IN LISTS lint_CONTRACTS)
    get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND common --contracts "${file}")
    list(APPEND files "${file}")
  endforeach()

  set(summaries "")
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "^[$]<" OR NOT source MATCHES "[.](cc|cpp|cxx|c[+][+]|C|cu)$")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${source_dir}")
    string(MAKE_C_IDENTIFIER "${source}" name)
    set(summary "${folder}/${name}.sum")
    add_custom_command(OUTPUT "${summary}"
      COMMAND ${program} ${common} -p "${CMAKE_BINARY_DIR}" --quiet --emit-summary "${summary}" --depfile "${summary}.d" "${path}"
      DEPENDS "${path}" ${files} ${program} "${CMAKE_BINARY_DIR}/compile_commands.json"
      DEPFILE "${summary}.d" WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      COMMENT "Linting ${source}" VERBATIM)
    list(APPEND summaries "${summary}")
  endforeach()
  if(NOT summaries)
    message(FATAL_ERROR "dtype_guard_lint(${target}): the target has no C++ or CUDA source yet; call it after them")
  endif()

  set(judge ${common})
  if(lint_PRECISION)
    list(JOIN lint_PRECISION "," precision)
    list(APPEND judge --precision "${precision}")
  endif()
  foreach(option TORCH DEVICE FAIL_ON BASELINE)
    if(DEFINED lint_${option})
      string(TOLOWER "--${option}" flag)
      string(REPLACE "_" "-" flag "${flag}")
      if(option STREQUAL "BASELINE")
        get_filename_component(lint_BASELINE "${lint_BASELINE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
        list(APPEND files "${lint_BASELINE}")
      endif()
      list(APPEND judge ${flag} "${lint_${option}}")
    endif()
  endforeach()
  set(report "${CMAKE_CURRENT_BINARY_DIR}/lint/${target}")
  add_custom_command(OUTPUT "${report}.passed"
    COMMAND ${program} ${judge} --quiet --format text "--format=json=${report}.json" "--format=sarif=${report}.sarif"
            ${lint_OPTIONS} --link ${summaries}
    COMMAND "${CMAKE_COMMAND}" -E touch "${report}.passed"
    DEPENDS ${summaries} ${files} ${program}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" COMMENT "Judging the dtypes of ${target}" VERBATIM)
  add_custom_target(lint_${target} ALL DEPENDS "${report}.passed")
endfunction()
