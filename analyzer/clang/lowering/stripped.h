// What an expression is without the nodes that Clang puts around it.
#pragma once

#include <clang/AST/ExprCXX.h>

namespace dtype_guard::clang_front_end {

// The call of a conversion function that an explicit cast to a floating type stands for.
const clang::CXXMemberCallExpr* written_conversion(const clang::CastExpr* cast);
// Parentheses, temporaries, default arguments and casts that change nothing.
const clang::Expr* stripped(const clang::Expr* expr);

}  // namespace dtype_guard::clang_front_end
