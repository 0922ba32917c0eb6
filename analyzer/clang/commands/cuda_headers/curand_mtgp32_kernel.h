// Clang's CUDA wrapper includes this header of cuRAND, which small toolkits lack.
