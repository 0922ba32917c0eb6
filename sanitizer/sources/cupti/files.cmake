# What the preloaded library is made of in this folder.
set(files
  arguments.cpp
  cast_links.cpp
  cast_times.cpp
  graphs.cpp
  launch_callback.cpp
  launch_frames.cpp
  launches.cpp
  libcupti.cpp
  parameters.cpp
  session.cpp
  source.cpp
  stream_casts.cpp)
