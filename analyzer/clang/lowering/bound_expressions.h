// Expressions that only something with a place can stand for: what a `T&` is bound to, what `&` is applied
// to, what is assigned to. A cast there would not compile, so no fix may put one.
#pragma once

#include <clang/AST/Expr.h>

#include <unordered_set>

namespace dtype_guard::clang_front_end {

using BoundExpressions = std::unordered_set<const clang::Expr*>;

// Of a function's body, lambdas in it included, and of its member initialisers.
BoundExpressions bound_expressions(const clang::FunctionDecl* function);

}  // namespace dtype_guard::clang_front_end
