// Which functions may convert a module to half: by what the receiver of a conversion and its dtype can be
// within the function, and which name a half type at all. Python writes a module's conversion as it writes a
// tensor's.
#pragma once

#include <functional>
#include <vector>

#include "analyzer/flow/program/function_info.h"

namespace dtype_guard::flow {

bool may_convert_to_half(const Function& code, const FunctionInfo& info);
// The calls by key of whose results one may be handed to code that is not in sight, which may convert it.
std::vector<const Instruction*> handed_to_unseen(const Function& code, const FunctionInfo& info,
                                                 const std::function<bool(const Instruction&)>& is_seen);
// Whether it names a half type, or a text may do so, there or as what an argument is by default. Without such
// a function a root is handed nothing that states one.
bool may_name_half(const Function& code);
bool may_name_half(const Constant& constant);

}  // namespace dtype_guard::flow
