# The accuracy suite on a GPU, with tensors in memory that both sides see: the sources of tests/accuracy as they are.
add_executable(test_gpu EXCLUDE_FROM_ALL
  "${CMAKE_CURRENT_LIST_DIR}/catch_main.cpp"
  "${CMAKE_CURRENT_LIST_DIR}/graph_test.cpp")
foreach(source IN ITEMS attention_bwd_run attention_bwd_test attention_edge_test attention_error_test
    attention_mask_test attention_options_test attention_run attention_varlen_test kvcache_edge_test kvcache_run
    kvcache_test rotary_test rwkv7_bwd_test rwkv7_run rwkv7_test test_tensor varlen_run)
  target_sources(test_gpu PRIVATE "${CMAKE_CURRENT_LIST_DIR}/../accuracy/${source}.cpp")
endforeach()
add_executable(gpu_probe EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/probe.cpp")
foreach(program IN ITEMS test_gpu gpu_probe)
  target_compile_definitions(${program} PRIVATE FLASH_REF_GPU)
  target_include_directories(${program} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(${program} PRIVATE dtype_guard_options flash_ref flash_ref_reference CUDA::cudart_static)
endforeach()
