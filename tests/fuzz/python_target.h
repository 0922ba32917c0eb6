// What is fuzzed of the Python front end: any bytes are a file, and what it gives is IR that prints and
// parses, or an error with a place. One body for libFuzzer and for the fixed inputs of ctest.
#pragma once

#include <string_view>

namespace dtype_guard::python {

// Aborts where something does not hold that must hold for every input.
void fuzz_python(std::string_view input);

}  // namespace dtype_guard::python
