// Where an expression of the IR stands in the text of its file, and what has to be written around it. Lines
// and columns are Clang's: a line ends at LF, CR LF or CR, columns are bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

// The text of a file as the report names it; null when it is not to be had. The text stays where it is.
using SourceText = std::function<const std::string*(const std::string& file)>;

// The byte at which a position is; nothing when the text has no such line.
std::optional<std::size_t> offset_of(std::string_view text, int line, int column);
// The expression of a range; nothing when the text is not what the instruction was made from, or has lines of
// the preprocessor in it.
std::optional<std::string_view> expression_at(std::string_view text, const Instruction& instruction);

// What gives the dtype of a tensor of that name, in the language of the file: "q.scalar_type()", "q.dtype".
std::string dtype_spelling(std::string_view file, std::string_view name);

// Whether ".to(...)" behind it would take hold of a part only: a sum, a negation, a cast, a condition.
bool needs_parentheses(std::string_view expression);
// The arguments between the last parentheses of a call, as ranges of bytes of `call`, without the comments
// around them; empty when that cannot be told.
struct ArgumentText {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<ArgumentText> arguments_of(std::string_view call);

}  // namespace dtype_guard::flow
