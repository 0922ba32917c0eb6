# Installs the package files for find_package(dtype_guard); the library and each command are an export set of
# their own, so that a package is whole without the others. The components are those of packages: dtype-lint (with the data), dtype-san,
# dtype-guard-clang-tidy and libflash-ref-dev (with the package files, which take what is there).
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dtype_guard")
set(data_dir "${CMAKE_INSTALL_DATADIR}/dtype_guard")

add_library(dtype_guard::flash_ref ALIAS flash_ref)  # the spelling that find_package gives, for add_subdirectory too
if(TARGET dtype-lint)
  add_executable(dtype_guard::dtype-lint ALIAS dtype-lint)
endif()

install(EXPORT dtype_guard-flash_ref NAMESPACE dtype_guard:: DESTINATION "${package_dir}" COMPONENT libflash-ref-dev)
install(EXPORT dtype_guard-dtype-san NAMESPACE dtype_guard:: DESTINATION "${package_dir}" COMPONENT dtype-san)
if(TARGET dtype-lint)
  install(EXPORT dtype_guard-dtype-lint NAMESPACE dtype_guard:: DESTINATION "${package_dir}" COMPONENT dtype-lint)
endif()
configure_package_config_file(cmake/dtype_guardConfig.cmake.in "${PROJECT_BINARY_DIR}/dtype_guardConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS data_dir NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dtype_guardConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/dtype_guardConfig.cmake" "${PROJECT_BINARY_DIR}/dtype_guardConfigVersion.cmake"
  cmake/dtype_guardLint.cmake DESTINATION "${package_dir}" COMPONENT libflash-ref-dev)
include(cmake/dtype_guardLint.cmake)  # for add_subdirectory too

# The data that reports and --contracts files are written against: contracts and schemas.
install(DIRECTORY rules/contracts rules/report DESTINATION "${data_dir}" COMPONENT dtype-lint
  FILES_MATCHING PATTERN "*.json")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dtype-lint)
