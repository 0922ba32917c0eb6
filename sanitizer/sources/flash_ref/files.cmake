# What the preloaded library is made of in this folder.
set(files
  absent_kernels.cpp
  bound_calls.cpp
  call_check.cpp
  interceptor.cpp
  interceptors.cpp
  kernel_lookup.cpp
  observed_copies.cpp
  output_notes.cpp
  source.cpp)
