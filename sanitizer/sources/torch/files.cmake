# What the preloaded library is made of in this folder.
set(files
  autograd_nodes.cpp
  call_operands.cpp
  callbacks.cpp
  calls.cpp
  forward_lines.cpp
  layout_search.cpp
  library.cpp
  operators.cpp
  origins.cpp
  probe.cpp
  recasts.cpp
  sites.cpp
  source.cpp
  storage_life.cpp
  thread_records.cpp
  unseen_calls.cpp)
