// Text from outside (file names, command lines, functions, reasons) as one line of a terminal or a log may
// show it: control characters, which a terminal would obey and which would forge further lines, are written
// out, and so are bytes that are no text at all.
#pragma once

#include <string>
#include <string_view>

namespace dtype_guard {

// "a\nb" becomes "a\x0ab", and a byte that is no UTF-8 becomes "\xff".
std::string printable(std::string_view text);

// A command line the same way, cut where it gets long.
std::string printable_command(std::string_view command);

}  // namespace dtype_guard
