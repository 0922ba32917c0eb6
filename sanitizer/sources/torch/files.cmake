# What the preloaded library is made of in this folder.
set(files
  call_operands.cpp
  callbacks.cpp
  calls.cpp
  layout_search.cpp
  library.cpp
  operators.cpp
  origins.cpp
  probe.cpp
  sites.cpp
  source.cpp
  storage_life.cpp
  thread_records.cpp)
