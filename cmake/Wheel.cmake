# What is built for the wheels alone (wheel/make_wheel.py packs it): the launcher that installers put into folders of
# programs. It needs no library but libc.
add_executable(dtype_guard_launcher "${PROJECT_SOURCE_DIR}/cmake/wheel/launcher.cpp")
target_link_libraries(dtype_guard_launcher PRIVATE dtype_guard_options)
target_compile_options(dtype_guard_launcher PRIVATE -fno-exceptions -fno-rtti)
target_compile_definitions(dtype_guard_launcher PRIVATE "DTYPE_GUARD_VERSION=\"${PROJECT_VERSION}\"")
target_link_options(dtype_guard_launcher PRIVATE LINKER:--as-needed)
set_target_properties(dtype_guard_launcher PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/wheel_programs")
dtype_guard_old_glibc_program(dtype_guard_launcher "")
