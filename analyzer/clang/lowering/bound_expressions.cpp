#include "analyzer/clang/lowering/bound_expressions.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include "analyzer/clang/lowering/stripped.h"

namespace dtype_guard::clang_front_end {
namespace {

bool binds(clang::QualType type) {
  const auto* reference = type.isNull() ? nullptr : type->getAs<clang::LValueReferenceType>();
  return reference && !reference->getPointeeType().isConstQualified();
}

class Search {
 public:
  explicit Search(const clang::FunctionDecl* function) : result_(function->getReturnType()) {
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) {
      for (const clang::CXXCtorInitializer* each : constructor->inits()) {
        const clang::FieldDecl* field = each->getMember();
        if (field && binds(field->getType())) add(each->getInit());
        look_into(each->getInit());
      }
    }
    look_into(function->getBody());
  }
  BoundExpressions take() { return std::move(out_); }

 private:
  void look_into(const clang::Stmt* stmt) {
    if (!stmt) return;
    look_at(stmt);
    if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(stmt)) {
      const clang::QualType outer = result_;
      result_ = lambda->getCallOperator()->getReturnType();
      look_into(lambda->getBody());
      result_ = outer;
      return;
    }
    for (const clang::Stmt* each : stmt->children()) look_into(each);
  }

  void look_at(const clang::Stmt* stmt) {
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(stmt)) {
      arguments(call);
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(stmt)) {
      for (unsigned i = 0; i < made->getNumArgs(); ++i) {
        if (is_bound(made->getConstructor(), i)) add(made->getArg(i));
      }
    } else if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(stmt)) {
      if (operation->getOpcode() == clang::UO_AddrOf) add(operation->getSubExpr());
    } else if (const auto* back = llvm::dyn_cast<clang::ReturnStmt>(stmt)) {
      if (binds(result_)) add(back->getRetValue());
    } else if (const auto* declarations = llvm::dyn_cast<clang::DeclStmt>(stmt)) {
      for (const clang::Decl* each : declarations->decls()) {
        const auto* variable = llvm::dyn_cast<clang::VarDecl>(each);
        if (variable && binds(variable->getType())) add(variable->getInit());
      }
    }
  }

  void arguments(const clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    // Of an operator that is a method the object is an argument.
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
    const bool object = method && method->isInstance() && llvm::isa<clang::CXXOperatorCallExpr>(call);
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      if (object && i == 0) {
        if (!method->isConst()) add(call->getArg(0));
      } else if (callee ? is_bound(callee, i - (object ? 1 : 0)) : is_bound(call, i)) {
        add(call->getArg(i));
      }
    }
  }

  // A forwarding reference takes what it is given; its instantiation alone does not show that.
  static bool is_bound(const clang::FunctionDecl* callee, unsigned index) {
    if (!callee || index >= callee->getNumParams()) return false;
    const clang::FunctionDecl* pattern = callee->getTemplateInstantiationPattern();
    if (pattern && index < pattern->getNumParams()) {
      clang::QualType type = pattern->getParamDecl(index)->getType();
      if (const auto* pack = type->getAs<clang::PackExpansionType>()) type = pack->getPattern();
      if (type->isRValueReferenceType()) return false;
    }
    return binds(callee->getParamDecl(index)->getType());
  }

  // Through a function pointer.
  static bool is_bound(const clang::CallExpr* call, unsigned index) {
    clang::QualType type = call->getCallee()->getType();
    if (!type.isNull() && !type->getPointeeType().isNull()) type = type->getPointeeType();
    const auto* function = type.isNull() ? nullptr : type->getAs<clang::FunctionProtoType>();
    return function && index < function->getNumParams() && binds(function->getParamType(index));
  }

  void add(const clang::Expr* expr) {
    if (!expr || expr->getType().isNull()) return;
    expr = stripped(expr);
    out_.insert(expr);
    if (const auto* choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expr)) {
      add(choice->getTrueExpr());
      add(choice->getFalseExpr());
    } else if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
      if (pair->getOpcode() == clang::BO_Comma) add(pair->getRHS());
    }
  }

  clang::QualType result_;
  BoundExpressions out_;
};

}  // namespace

BoundExpressions bound_expressions(const clang::FunctionDecl* function) { return Search(function).take(); }

}  // namespace dtype_guard::clang_front_end
