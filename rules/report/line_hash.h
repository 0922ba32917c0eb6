// GitHub's primaryLocationLineHash: a rolling hash over the 100 characters that follow the start of a line,
// blanks left out, by which code scanning recognises an alert when lines above it come and go. It has to
// agree with what GitHub's uploader computes itself, which warns when the report says something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

// One entry for each line, "hex:n", where n counts equal hashes from the top. Lines end at CR, LF or CRLF,
// and what follows the last line end is a line too, so an empty file has one. Bytes that are no UTF-8 count
// as U+FFFD.
std::vector<std::string> line_hashes(std::string_view text);

}  // namespace dtype_guard
