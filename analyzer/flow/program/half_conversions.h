// Which functions may convert a module to half: by what the receiver of a conversion and its dtype can be
// within the function. Python writes a module's conversion as it writes a tensor's.
#pragma once

#include "analyzer/flow/program/function_info.h"

namespace dtype_guard::flow {

bool may_convert_to_half(const Function& code, const FunctionInfo& info);

}  // namespace dtype_guard::flow
