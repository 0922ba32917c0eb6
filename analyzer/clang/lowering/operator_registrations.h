// TORCH_LIBRARY and TORCH_LIBRARY_IMPL: which function runs for which operator and dispatch key.
#pragma once

#include <clang/AST/Decl.h>

#include <vector>

#include "analyzer/clang/lowering/translation_unit.h"
#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::clang_front_end {

// A function for each registration of the block that `variable` runs; none when it runs no such block.
std::vector<flow::Function> operator_registrations(TranslationUnit& unit, const clang::VarDecl& variable);

}  // namespace dtype_guard::clang_front_end
