# The manual page of a command and its completions, printed by the command itself, so that they are as its --help. They go
# where man, bash, zsh and fish look below a prefix.
include(GNUInstallDirs)

function(dtype_guard_command_line_files command)
  set(places
    "man=${CMAKE_INSTALL_MANDIR}/man1/${command}.1.gz"
    "bash=${CMAKE_INSTALL_DATADIR}/bash-completion/completions/${command}"
    "zsh=${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions/_${command}"
    "fish=${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/${command}.fish")
  foreach(place IN LISTS places)
    string(REGEX MATCH "^([a-z]+)=(.*)/([^/]+)$" matched "${place}")
    set(kind "${CMAKE_MATCH_1}")
    set(folder "${CMAKE_MATCH_2}")
    set(file "${PROJECT_BINARY_DIR}/generated/command_line/${kind}/${CMAKE_MATCH_3}")
    get_filename_component(made_in "${file}" DIRECTORY)
    file(MAKE_DIRECTORY "${made_in}")
    set(packed cat)
    if(file MATCHES "\\.gz$")
      set(packed gzip -9n)
    endif()
    add_custom_command(OUTPUT "${file}"
      COMMAND "$<TARGET_FILE:${command}>" --generate ${kind} | ${packed} > "${file}"
      DEPENDS ${command} VERBATIM COMMENT "")
    list(APPEND files "${file}")
    install(FILES "${file}" DESTINATION "${folder}" COMPONENT "${command}")
  endforeach()
  add_custom_target("${command}_command_line" ALL DEPENDS ${files})
endfunction()
