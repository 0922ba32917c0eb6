// Whether an ELF file carries a copy of flash_ref that can be watched wherever it is: the allocated note of
// owner `flash_ref` (flash_ref/observer.h) survives strip, hidden visibility and static linking.
#pragma once

#include <string>

namespace dtype_guard::san {

bool has_observer_note(const std::string& file);

// Whether the file exports a function of flash_ref; such a copy can be watched only where calls to it are
// bound late.
bool exports_flash_ref(const std::string& file);

// Whether the file exports this function.
bool exports_function(const std::string& file, const std::string& symbol);

// Whether the file is a libdtype_san.so.
bool exports_switch(const std::string& file);

}  // namespace dtype_guard::san
