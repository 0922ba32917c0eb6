// Catch2's main from its header alone: the machine with the GPU may have no package of it.
#define CATCH_CONFIG_MAIN
#include "tests/catch.h"
