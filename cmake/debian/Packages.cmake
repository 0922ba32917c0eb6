# Debian packages, one for each install component, by CPack. dpkg-shlibdeps says what they depend on; what the programs carry
# (Portable.cmake) is no dependency. Made by `make deb`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dtype-guard)
set(CPACK_PACKAGE_CONTACT "dtype-guard developers <dtype-guard@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# Name, section and what dpkg says of it below the project's one line.
function(dtype_guard_debian_package component section)
  set(description "${ARGN}")
  list(JOIN description "\n" description)
  string(TOUPPER "${component}" key)
  set("CPACK_DEBIAN_${key}_PACKAGE_NAME" "${component}" PARENT_SCOPE)
  set("CPACK_DEBIAN_${key}_PACKAGE_SECTION" "${section}" PARENT_SCOPE)
  set("CPACK_COMPONENT_${key}_DESCRIPTION" "${description}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} "${component}" PARENT_SCOPE)
  set("CPACK_DEBIAN_${key}_DESCRIPTION" "${description}" PARENT_SCOPE)
  if(component MATCHES "^(dtype-san|libflash-ref-dev)$")  # it has a library where the linker looks
    set("CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA" "${PROJECT_SOURCE_DIR}/cmake/debian/triggers" PARENT_SCOPE)
  endif()
  if(component MATCHES "^dtype-(lint|san)$")  # they carry libraries
    configure_file("${PROJECT_SOURCE_DIR}/cmake/debian/lintian-overrides"
      "${PROJECT_BINARY_DIR}/generated/debian/overrides/${component}" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/generated/debian/overrides/${component}"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" COMPONENT "${component}" EXCLUDE_FROM_ALL)
  endif()
  foreach(file copyright changelog.gz changelog.Debian.gz)
    set(from "${PROJECT_BINARY_DIR}/generated/debian/${file}")
    if(file STREQUAL "copyright")
      set(from "${PROJECT_SOURCE_DIR}/cmake/debian/copyright")
    endif()
    install(FILES "${from}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${component}" COMPONENT "${component}" EXCLUDE_FROM_ALL)
  endforeach()
endfunction()

# The day of the version, which the changelog has, in the form that Debian's wants.
set(changelog "${PROJECT_SOURCE_DIR}/cmake/release/CHANGELOG.md")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${changelog}")
file(STRINGS "${changelog}" released REGEX "^## \\[${PROJECT_VERSION}\\] - ")
string(REGEX REPLACE "^.* - " "" released "${released}")
execute_process(COMMAND env LC_ALL=C date -u -d "${released}" "+%a, %d %b %Y %H:%M:%S +0000" OUTPUT_VARIABLE released
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(folder "${PROJECT_BINARY_DIR}/generated/debian")
file(WRITE "${folder}/changelog.Debian" "dtype-guard (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * See changelog.gz beside this file.

 -- ${CPACK_PACKAGE_CONTACT}  ${released}
")
configure_file("${changelog}" "${folder}/changelog" COPYONLY)
execute_process(COMMAND gzip -9nkf changelog changelog.Debian WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)

set(CPACK_COMPONENTS_ALL "")
if(TARGET dtype-lint)
  dtype_guard_debian_package(dtype-lint devel
    "Reads C++ over libtorch and Python over PyTorch, and reports where a value is"
    "silently promoted on its way into an attention or rotary call, with the way"
    "to the call and a fix.")
endif()
dtype_guard_debian_package(dtype-san devel
  "Watches a program or PyTorch job from its start, or joins it while it runs, and"
  "reports attention and rotary calls with wrong dtypes, and what made them so.")
dtype_guard_debian_package(libflash-ref-dev libdevel
  "Reference kernels for attention and rotary embeddings, whose calls both tools"
  "check: library, header and CMake package.")
if(TARGET dtype_tidy)
  dtype_guard_debian_package(dtype-guard-clang-tidy devel
    "dtype-lint's checks as a plug-in of the clang-tidy that it was built for.")
  set(CPACK_DEBIAN_DTYPE-GUARD-CLANG-TIDY_PACKAGE_RECOMMENDS "clang-tidy-${LLVM_VERSION_MAJOR}")
endif()
set(CPACK_DEBIAN_LIBFLASH-REF-DEV_PACKAGE_DEPENDS libdlpack-dev)  # its header includes that one's
include(CPack)
