// Statements: control flow, scopes and what leaving them runs.
#include <clang/AST/StmtOpenMP.h>

#include "analyzer/clang/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

namespace {

// A structured binding's variable has no name of its own: "[a, b]".
std::string variable_name(const clang::VarDecl* decl) {
  const auto* pattern = llvm::dyn_cast<clang::DecompositionDecl>(decl);
  if (!pattern) return decl->getNameAsString();
  std::string names;
  for (const clang::BindingDecl* each : pattern->bindings())
    names += (names.empty() ? "[" : ", ") + each->getNameAsString();
  return names + "]";
}

// Whether `variable = ...` stands anywhere below.
bool assigns_to(const clang::Stmt* stmt, const clang::VarDecl* variable) {
  if (!stmt) return false;
  const clang::Expr* target = nullptr;
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(stmt)) {
    if (call->getOperator() == clang::OO_Equal) target = call->getArg(0);
  } else if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(stmt)) {
    if (operation->isAssignmentOp()) target = operation->getLHS();
  }
  const auto* reference = target ? llvm::dyn_cast<clang::DeclRefExpr>(stripped(target)) : nullptr;
  if (reference && reference->getDecl() == variable) return true;
  for (const clang::Stmt* child : stmt->children()) {
    if (assigns_to(child, variable)) return true;
  }
  return false;
}

bool ends_path(const clang::Stmt* stmt) {
  if (!stmt) return false;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(stmt)) {
    return !block->body_empty() && ends_path(block->body_back());
  }
  if (const auto* expr = llvm::dyn_cast<clang::Expr>(stmt)) {
    expr = stripped(expr);
    if (llvm::isa<clang::CXXThrowExpr>(expr)) return true;
    const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
    return call && call->getDirectCallee() && call->getDirectCallee()->isNoReturn();
  }
  return false;
}

}  // namespace

flow::BlockId FunctionLowering::label_block(const clang::LabelDecl* label) {
  const auto known = labels_.find(label);
  return known != labels_.end() ? known->second : labels_[label] = builder_.block();
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
    loop(each->getInit(), each->getConditionVariable(), each->getCond(), each->getInc(), each->getBody(),
         each->getConditionVariable() || !each->getInc());
  } else if (const auto* repeat = llvm::dyn_cast<clang::WhileStmt>(stmt)) {
    if (!checked_comparison(repeat))
      loop(nullptr, repeat->getConditionVariable(), repeat->getCond(), nullptr, repeat->getBody(), true);
  } else if (const auto* repeat_until = llvm::dyn_cast<clang::DoStmt>(stmt)) {
    loop(nullptr, nullptr, repeat_until->getCond(), nullptr, repeat_until->getBody(), false);
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
  } else if (type->isReferenceType() || type.isConstQualified()) {
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

void FunctionLowering::assume(const clang::Expr* condition, bool holds) {
  condition = stripped(condition);
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(condition)) return assume(cast->getSubExpr(), holds);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(condition)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee && callee->getBuiltinID() && call->getNumArgs() > 0 &&
        callee->getName() == "__builtin_expect") {
      return assume(call->getArg(0), holds);
    }
  }
  if (const auto* negation = llvm::dyn_cast<clang::UnaryOperator>(condition);
      negation && negation->getOpcode() == clang::UO_LNot) {
    return assume(negation->getSubExpr(), !holds);
  }
  Builder::At here(builder_, position(condition));
  ValueId fact = value(condition);
  if (!holds) fact = builder_.op("logical_not", {{"self", fact}});
  builder_.effect(Op::kAssume, "", {{"", fact}});
}

void FunctionLowering::if_statement(const clang::IfStmt* stmt) {
  open_scope();
  statement(stmt->getInit());
  if (stmt->isConsteval()) {
    statement(stmt->isNegatedConsteval() ? stmt->getThen() : stmt->getElse());
    return close_scope();
  }
  if (stmt->getConditionVariable()) declaration(stmt->getConditionVariable());
  if (!stmt->getElse() && ends_path(stmt->getThen())) {
    assume(stmt->getCond(), false);
    return close_scope();
  }
  const ValueId condition = value(stmt->getCond());
  const BlockId yes = builder_.block(), no = builder_.block(), after = builder_.block();
  builder_.branch(condition, yes, no);
  builder_.enter(yes);
  statement(stmt->getThen());
  builder_.jump(after);
  builder_.enter(no);
  statement(stmt->getElse());
  builder_.jump(after);
  builder_.enter(after);
  close_scope();
}

void FunctionLowering::loop(const clang::Stmt* init, const clang::VarDecl* variable,
                            const clang::Expr* condition, const clang::Expr* step, const clang::Stmt* body,
                            bool test_first) {
  open_scope();
  statement(init);
  const BlockId test = builder_.block(), again = builder_.block(), next = builder_.block(),
                after = builder_.block();
  builder_.jump(test_first ? test : again);
  builder_.enter(test);
  if (variable) declaration(variable);
  if (condition) {
    builder_.branch(value(condition), again, after);
  } else {
    builder_.jump(again);
  }
  builder_.enter(again);
  breaks_.push_back({after, scopes_.size()});
  continues_.push_back({next, scopes_.size()});
  statement(body);
  breaks_.pop_back();
  continues_.pop_back();
  builder_.jump(next);
  builder_.enter(next);
  statement(step);
  builder_.jump(test);
  builder_.enter(after);
  close_scope();
}

// Every element is visited. An empty container has no elements to be wrong about, so the body is taken to
// run; when it rebinds the loop variable, the container afterwards holds what the variable held at the end of
// an iteration.
void FunctionLowering::range_for(const clang::CXXForRangeStmt* stmt) {
  open_scope();
  statement(stmt->getInit());
  const clang::Expr* range = stmt->getRangeInit();
  const clang::VarDecl* variable = stmt->getLoopVariable();
  const bool of_map = facts(range).kind == TypeKind::kMap;
  const bool by_reference = !of_map && is_rebindable_reference(variable->getType());
  const Lvalue container = of_map ? held(builder_.none()) : lvalue(range);
  const bool rebinds = by_reference && !container.is_value && facts(range).kind != TypeKind::kBuffer &&
                       assigns_to(stmt->getBody(), variable);
  const BlockId again = builder_.block(), next = builder_.block(), done = builder_.block(),
                after = builder_.block();
  builder_.jump(again);
  builder_.enter(again);
  open_scope();
  {
    Builder::At here(builder_, position(stripped(range)));
    const bool writes = variable->getType()->isReferenceType() &&
                        !variable->getType().getNonReferenceType().isConstQualified() &&
                        !range->getType().isConstQualified();
    const Lvalue element =
        of_map ? map_entry(range, writes) : cell(container, std::nullopt, range->getType());
    if (by_reference && !rebinds && !element.is_value) {
      addresses_[variable] = builder_.address(element.place);
    } else if (!rebinds &&
               (variable->getType()->isReferenceType() || variable->getType().isConstQualified())) {
      fixed_[variable] = load(element);
    } else {
      variables_[variable] = builder_.variable(variable_name(variable));
      builder_.store({variables_[variable], 0, {}}, load(element));
    }
  }
  breaks_.push_back({after, scopes_.size() - 1});
  continues_.push_back({next, scopes_.size() - 1});
  statement(stmt->getBody());
  breaks_.pop_back();
  continues_.pop_back();
  close_scope();
  builder_.jump(next);
  builder_.enter(next);
  builder_.branch(builder_.unknown(), again, done);
  builder_.enter(done);
  if (rebinds) {
    Builder::At here(builder_, position(stripped(range)));
    const ValueId last = builder_.load({variables_[variable], 0, {}});
    builder_.store(container.place, builder_.value(Op::kPack, "", {}));
    builder_.store(cell(container, std::nullopt, range->getType()).place, last);
  }
  builder_.jump(after);
  builder_.enter(after);
  close_scope();
}

void FunctionLowering::switch_statement(const clang::SwitchStmt* stmt) {
  open_scope();
  statement(stmt->getInit());
  if (stmt->getConditionVariable()) declaration(stmt->getConditionVariable());
  const ValueId selector = value(stmt->getCond());
  const BlockId after = builder_.block();
  BlockId otherwise = after;
  std::vector<const clang::CaseStmt*> labels;
  for (const clang::SwitchCase* each = stmt->getSwitchCaseList(); each; each = each->getNextSwitchCase()) {
    cases_[each] = builder_.block();
    if (const auto* label = llvm::dyn_cast<clang::CaseStmt>(each)) {
      labels.insert(labels.begin(), label);
    } else {
      otherwise = cases_[each];
    }
  }
  for (const clang::CaseStmt* label : labels) {
    Builder::At here(builder_, position(label->getLHS()));
    const ValueId equal = builder_.op("eq", {{"self", selector}, {"other", value(label->getLHS())}});
    const BlockId next = builder_.block();
    builder_.branch(equal, cases_[label], next);
    builder_.enter(next);
  }
  builder_.jump(otherwise);
  builder_.enter(builder_.block());  // nothing before the first label runs
  breaks_.push_back({after, scopes_.size()});
  statement(stmt->getBody());
  breaks_.pop_back();
  builder_.jump(after);
  builder_.enter(after);
  close_scope();
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

// A handler may start from anywhere in the try block; it is taken to start from its beginning.
void FunctionLowering::try_statement(const clang::CXXTryStmt* stmt) {
  const BlockId after = builder_.block();
  BlockId body = builder_.block();
  for (unsigned i = 0; i < stmt->getNumHandlers(); ++i) {
    const BlockId handler = builder_.block();
    builder_.branch(builder_.unknown(), body, handler);
    builder_.enter(handler);
    open_scope();
    const clang::CXXCatchStmt* catcher = stmt->getHandler(i);
    if (const clang::VarDecl* caught = catcher->getExceptionDecl()) fixed_[caught] = builder_.unknown();
    statement(catcher->getHandlerBlock());
    close_scope();
    builder_.jump(after);
    builder_.enter(body);
    if (i + 1 < stmt->getNumHandlers()) body = builder_.block();
  }
  compound(stmt->getTryBlock());
  builder_.jump(after);
  builder_.enter(after);
}

}  // namespace dtype_guard::clang_front_end
