# A CUDA that tests drive: libcupti as it is from CUDA 13 on, the same before that, the driver, a runtime; and programs
# that use them. Folders hold what lies together in an installation.
set(scripted "${CMAKE_CURRENT_BINARY_DIR}/scripted_cuda")
function(scripted_library target file folder)
  add_library(process_${target} SHARED ${file} programs/scripted_failure.c)
  target_link_libraries(process_${target} PRIVATE dtype_guard_options)
  set_target_properties(process_${target} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${scripted}/${folder}")
endfunction()
scripted_library(scripted_runtime programs/scripted_runtime.c runtime)
set_target_properties(process_scripted_runtime PROPERTIES OUTPUT_NAME libcudart SUFFIX .so.13)
scripted_library(scripted_cupti_13 programs/scripted_cupti.c cupti)
set_target_properties(process_scripted_cupti_13 PROPERTIES OUTPUT_NAME libcupti SUFFIX .so.13)
scripted_library(scripted_cupti_12 programs/scripted_cupti.c cupti_old)
set_target_properties(process_scripted_cupti_12 PROPERTIES OUTPUT_NAME libcupti SUFFIX .so.13)
target_compile_definitions(process_scripted_cupti_12 PRIVATE SCRIPTED_OLD)
scripted_library(scripted_cupti_inside programs/scripted_cupti.c inside)
set_target_properties(process_scripted_cupti_inside PROPERTIES OUTPUT_NAME libprofiler SUFFIX .so)
scripted_library(scripted_driver programs/scripted_driver.c driver)
set_target_properties(process_scripted_driver PROPERTIES OUTPUT_NAME libcuda SUFFIX .so.1)

add_executable(process_cuda_job programs/cuda_job.c)
target_link_libraries(process_cuda_job PRIVATE
  dtype_guard_options process_scripted_cupti process_scripted_driver ${CMAKE_DL_LIBS})
target_include_directories(process_cuda_job PRIVATE "${PROJECT_SOURCE_DIR}/kernels/include")
target_include_directories(process_cuda_job SYSTEM PRIVATE "${DLPACK_INCLUDE_DIR}")
target_compile_options(process_cuda_job PRIVATE -g -O1)
# Its runtime is found through LD_LIBRARY_PATH, beside which a test lays the libcupti that it wants.
add_executable(process_other_client programs/other_client.c)
target_link_libraries(process_other_client PRIVATE
  dtype_guard_options process_scripted_driver process_scripted_runtime ${CMAKE_DL_LIBS})
set_target_properties(process_other_client PROPERTIES SKIP_BUILD_RPATH ON)
add_dependencies(process_other_client process_scripted_cupti_13 process_scripted_cupti_12 process_scripted_cupti_inside)
