# What the preloaded library is made of in this folder.
set(files
  interceptors.cpp
  observed_copies.cpp
  source.cpp)
