#include "analyzer/clang/lowering/stripped.h"

namespace dtype_guard::clang_front_end {

// static_cast<float>(half), float(half): a written cast that the half type's conversion function does.
const clang::CXXMemberCallExpr* written_conversion(const clang::CastExpr* cast) {
  if (!llvm::isa<clang::ExplicitCastExpr>(cast) || !cast->getType()->isRealFloatingType()) return nullptr;
  const clang::Expr* inner = cast->getSubExpr();
  while (const auto* part = llvm::dyn_cast<clang::ImplicitCastExpr>(inner)) inner = part->getSubExpr();
  const auto* called = llvm::dyn_cast<clang::CXXMemberCallExpr>(inner);
  return called && llvm::isa_and_nonnull<clang::CXXConversionDecl>(called->getMethodDecl()) ? called
                                                                                            : nullptr;
}

const clang::Expr* stripped(const clang::Expr* expr) {
  while (expr) {
    const clang::Expr* inner = expr->IgnoreParens();
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(inner)) {
      inner = full->getSubExpr();
    } else if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner)) {
      inner = temporary->getSubExpr();
    } else if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(inner)) {
      inner = bound->getSubExpr();
    } else if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner)) {
      inner = fallback->getExpr();
    } else if (const auto* member = llvm::dyn_cast<clang::CXXDefaultInitExpr>(inner)) {
      inner = member->getExpr();
    } else if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(inner)) {
      inner = list->getSubExpr();
    } else if (const auto* substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner)) {
      inner = substituted->getReplacement();
    } else if (const auto* rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(inner)) {
      inner = rewritten->getSemanticForm();
    } else if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(inner); cast && !written_conversion(cast)) {
      switch (cast->getCastKind()) {
        case clang::CK_NoOp:
        case clang::CK_DerivedToBase:
        case clang::CK_UncheckedDerivedToBase:
        case clang::CK_BaseToDerived:
        case clang::CK_Dynamic:
        case clang::CK_ArrayToPointerDecay:
        case clang::CK_ConstructorConversion:
        case clang::CK_UserDefinedConversion:
          inner = cast->getSubExpr();
          break;
        default:
          break;
      }
    }
    if (inner == expr) break;
    expr = inner;
  }
  return expr;
}

}  // namespace dtype_guard::clang_front_end
