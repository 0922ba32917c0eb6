// What else happens to a value that a fix would narrow, and to the variable whose dtype the fix would take. A
// cast where the value is made changes all that is done with it later; one at the call only what the call
// gets.
#pragma once

#include <string_view>

#include "analyzer/flow/edits/source_text.h"
#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

struct ValueUses {
  std::size_t calls = 0;     // of the function in question
  std::size_t others = 0;    // where a narrower value could be noticed
  bool is_returned = false;  // one of them: what callers do with it is theirs
};

// The uses of the expression's value, through the local variables that it is stored in as well; being stored
// where others look is one. What asks for a shape only is none.
ValueUses uses_of(const Function& function, const Instruction& expression, std::string_view callee);

// Whether no call of the function does more than one thing with what it gives back.
bool is_result_used_once(const Module& module, const Function& function);

// Operators that tell the shape, whatever the dtype.
bool tells_shape(const Instruction& instruction);

// Whether the text between the head of the function and the end of `until` moves from the variable: its dtype
// may be gone.
bool is_moved_from(const Module& module, const Function& function, std::string_view variable,
                   const SourceRange& until, const SourceText& text);

}  // namespace dtype_guard::flow
