// The libraries that a program asks the dynamic loader for.
#pragma once

#include <string>
#include <vector>

namespace dtype_guard::san {

// DT_NEEDED of an ELF file; empty for anything else.
std::vector<std::string> needed_libraries(const std::string& path);

// The files that the program's own loader would map with it, as ldd shows them; the program itself does not
// run.
std::vector<std::string> linked_files(const std::string& path, const std::string& loader);

// The address sanitizer's runtime among them, which insists on coming before every other library; else empty.
std::string address_sanitizer_of(const std::string& path);

}  // namespace dtype_guard::san
