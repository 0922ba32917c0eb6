// Catch2 3 brings its own main in a library.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#endif
#include "tests/catch.h"
