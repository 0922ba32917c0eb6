// The functions of a file that Clang has parsed: for tools that have an AST already. The only header besides
// those of this folder's own parts that speaks of Clang.
#pragma once

#include "analyzer/clang/lowering/lowering_options.h"

namespace clang {
class ASTContext;
class Preprocessor;
}  // namespace clang

namespace dtype_guard::clang_front_end {

// Fills the module and the torch version of `result`.
void lower_parsed(clang::ASTContext& context, clang::Preprocessor& preprocessor,
                  const LoweringOptions& options, LoweredSource& result);

}  // namespace dtype_guard::clang_front_end
