// For the target whose precompiled header all unit tests take.
#include "tests/catch.h"
