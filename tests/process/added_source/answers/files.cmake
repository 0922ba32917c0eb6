# What the preloaded library is made of in this folder.
set(files
  source.cpp)
