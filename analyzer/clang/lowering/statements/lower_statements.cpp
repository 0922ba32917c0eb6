// Statements: which is which, declarations, scopes and what leaving them runs.
#include <clang/AST/StmtOpenMP.h>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

std::string variable_name(const clang::VarDecl* decl) {
  const auto* pattern = llvm::dyn_cast<clang::DecompositionDecl>(decl);
  if (!pattern) return decl->getNameAsString();
  std::string names;
  for (const clang::BindingDecl* each : pattern->bindings())
    names += (names.empty() ? "[" : ", ") + each->getNameAsString();
  return names + "]";
}

void FunctionLowering::close_scope() {
  unwind(scopes_.size() - 1);
  scopes_.pop_back();
}

void FunctionLowering::unwind(std::size_t to_depth) {
  if (!builder_.open()) return;
  for (std::size_t depth = scopes_.size(); depth > to_depth; --depth) {
    const std::vector<Cleanup>& scope = scopes_[depth - 1];
    for (auto each = scope.rbegin(); each != scope.rend(); ++each) {
      if (each->destructor) {
        builder_.value(Op::kCall, unit_.key(each->destructor), {{"", each->value}});
      } else {
        builder_.effect(Op::kRestoreState, "", {{"", each->value}});
      }
    }
  }
}

// An expression for its effects: reading back what an assignment yields would say nothing.
void FunctionLowering::discard(const clang::Expr* expr) {
  expr = stripped(expr);
  if (llvm::isa<clang::BinaryOperator, clang::CXXOperatorCallExpr, clang::UnaryOperator>(expr)) {
    Builder::At here(builder_, position(expr));
    value_of(expr);
    return;
  }
  const ValueId result = value(expr);
  // Through a macro it may be what a test expects to throw.
  if (result && casts_tensor(expr) && !expr->getBeginLoc().isMacroID()) {
    Builder::At here(builder_, position(expr));
    builder_.effect(Op::kDiscard, "", {{"", result}});
  }
}

void FunctionLowering::compound(const clang::CompoundStmt* stmt) {
  open_scope();
  for (const clang::Stmt* each : stmt->body()) statement(each);
  close_scope();
}

void FunctionLowering::statement(const clang::Stmt* stmt) {
  if (!stmt) return;
  if (const auto* expr = llvm::dyn_cast<clang::Expr>(stmt)) {
    discard(expr);
  } else if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(stmt)) {
    compound(block);
  } else if (const auto* decls = llvm::dyn_cast<clang::DeclStmt>(stmt)) {
    for (const clang::Decl* each : decls->decls()) {
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(each)) declaration(variable);
    }
  } else if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(stmt)) {
    if_statement(branch);
  } else if (const auto* each = llvm::dyn_cast<clang::ForStmt>(stmt)) {
    // A loop over elements is taken to run: that it might not is no reason to doubt a cast in it.
    const bool of_elements = !each->getConditionVariable() && each->getInc();
    loop(each->getInit(), each->getConditionVariable(), each->getCond(), each->getInc(), each->getBody(),
         of_elements ? LoopBegins::kByItsBodyIfAtAll : LoopBegins::kByItsTest);
  } else if (const auto* repeat = llvm::dyn_cast<clang::WhileStmt>(stmt)) {
    if (!checked_comparison(repeat))
      loop(nullptr, repeat->getConditionVariable(), repeat->getCond(), nullptr, repeat->getBody(),
           LoopBegins::kByItsTest);
  } else if (const auto* repeat_until = llvm::dyn_cast<clang::DoStmt>(stmt)) {
    loop(nullptr, nullptr, repeat_until->getCond(), nullptr, repeat_until->getBody(), LoopBegins::kByItsBody);
  } else if (const auto* range = llvm::dyn_cast<clang::CXXForRangeStmt>(stmt)) {
    range_for(range);
  } else if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(stmt)) {
    switch_statement(choice);
  } else if (const auto* label = llvm::dyn_cast<clang::SwitchCase>(stmt)) {
    if (const auto target = cases_.find(label); target != cases_.end()) {
      builder_.jump(target->second);
      builder_.enter(target->second);
    }
    statement(label->getSubStmt());
  } else if (const auto* back = llvm::dyn_cast<clang::ReturnStmt>(stmt)) {
    return_statement(back);
  } else if (llvm::isa<clang::BreakStmt>(stmt) && !breaks_.empty()) {
    unwind(breaks_.back().scopes);
    builder_.jump(breaks_.back().block);
  } else if (llvm::isa<clang::ContinueStmt>(stmt) && !continues_.empty()) {
    unwind(continues_.back().scopes);
    builder_.jump(continues_.back().block);
  } else if (const auto* attempt = llvm::dyn_cast<clang::CXXTryStmt>(stmt)) {
    try_statement(attempt);
  } else if (const auto* labelled = llvm::dyn_cast<clang::LabelStmt>(stmt)) {
    const BlockId target = label_block(labelled->getDecl());
    builder_.jump(target);
    builder_.enter(target);
    statement(labelled->getSubStmt());
  } else if (const auto* away = llvm::dyn_cast<clang::GotoStmt>(stmt)) {
    builder_.jump(label_block(away->getLabel()));  // destructors on the way are not run
  } else if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(stmt)) {
    statement(attributed->getSubStmt());
  } else if (llvm::isa<clang::OMPExecutableDirective, clang::OMPCanonicalLoop>(stmt)) {
    statement(governed(stmt));
  } else if (const auto* code = llvm::dyn_cast<clang::AsmStmt>(stmt)) {
    assembly(code);
  } else if (!llvm::isa<clang::NullStmt>(stmt) && !result_.foreign) {
    unit_.not_lowered(result_.name, std::string("statement of kind ") + stmt->getStmtClassName(),
                      stmt->getSourceRange());
  }
}

void FunctionLowering::declaration(const clang::VarDecl* decl) {
  if (decl->isStaticLocal() && decl->getType().isConstQualified() && decl->getInit())
    return;  // read where used
  bind(decl, decl->getInit());
  const auto* pattern = llvm::dyn_cast<clang::DecompositionDecl>(decl);
  if (!pattern && !decl->getType()->isReferenceType()) {
    const clang::CXXRecordDecl* record = decl->getType()->getAsCXXRecordDecl();
    if (pending_restore_) {
      scopes_.back().push_back({std::exchange(pending_restore_, 0), nullptr});
    } else if (record && record->hasDefinition()) {
      const clang::CXXDestructorDecl* destructor = record->getDestructor();
      const clang::FunctionDecl* body = unit_.user_definition(destructor);
      if (body && body->isUserProvided()) {
        scopes_.back().push_back({load(variable_place(decl)), destructor});
      }
    }
  }
}

void FunctionLowering::bind(const clang::VarDecl* decl, const clang::Expr* initialiser) {
  const clang::QualType type = decl->getType();
  Builder::At here(builder_, initialiser ? position(stripped(initialiser))
                                         : unit_.position(clang::SourceRange(decl->getLocation())));
  const ValueId initial = initialiser ? pass(initialiser, type) : zero(type);
  if (is_rebindable_reference(type)) {
    addresses_[decl] = initial;
  } else if ((type->isReferenceType() && !is_changing_text(type)) || type.isConstQualified()) {
    fixed_[decl] = initial;
    if (initial && facts(type.getNonReferenceType()).kind == TypeKind::kTensor) {
      result_.constants.push_back({decl->getNameAsString(), initial});
    }
  } else {
    const VariableId variable = builder_.variable(variable_name(decl));
    variables_[decl] = variable;
    loop_of_[decl] = breaks_.size();
    builder_.store({variable, 0, {}}, initial);
  }
}

void FunctionLowering::return_statement(const clang::ReturnStmt* stmt) {
  Builder::At here(builder_, unit_.position(stmt->getSourceRange()));
  const clang::Expr* result = stmt->getRetValue();
  ValueId given = 0;
  if (result) {
    given = pass(result, function_->getReturnType());
    if (result->getType()->isVoidType()) given = 0;
  }
  unwind(0);
  builder_.give_back(given);
}

}  // namespace dtype_guard::clang_front_end
