// Branches: conditions, switches, handlers, labels; and conditions that hold because the path goes on.
#include <algorithm>
#include <functional>
#include <vector>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

namespace {

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

// The variable that a statement assigns, where it does nothing else.
const clang::VarDecl* assigned(const clang::Stmt* stmt) {
  const auto* expr = llvm::dyn_cast_or_null<clang::Expr>(stmt);
  const auto* call = expr ? llvm::dyn_cast<clang::CXXOperatorCallExpr>(stripped(expr)) : nullptr;
  if (!call || call->getOperator() != clang::OO_Equal) return nullptr;
  const auto* target = llvm::dyn_cast<clang::DeclRefExpr>(stripped(call->getArg(0)));
  return target ? llvm::dyn_cast<clang::VarDecl>(target->getDecl()) : nullptr;
}

using IsTensor = std::function<bool(const clang::Expr*)>;

// Whether it calls a free function that returns a tensor; methods and operators seldom throw.
bool calls_function(const clang::Stmt* stmt, const IsTensor& is_tensor) {
  if (!stmt) return false;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(stmt);
  const bool free = call && !llvm::isa<clang::CXXMemberCallExpr, clang::CXXOperatorCallExpr>(call);
  if (free && is_tensor(call)) return true;
  return std::any_of(stmt->child_begin(), stmt->child_end(),
                     [&](const clang::Stmt* each) { return calls_function(each, is_tensor); });
}

// The statement of a try block that may throw between two assignments to a variable, so that the handler sees
// the first: null where there is none, or where locals would have to be destroyed.
const clang::Stmt* leaves_half_done(const clang::CompoundStmt* block, const IsTensor& is_tensor) {
  const std::vector<const clang::Stmt*> all(block->body_begin(), block->body_end());
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (llvm::isa<clang::DeclStmt>(all[first])) return nullptr;
    const clang::VarDecl* variable = assigned(all[first]);
    if (!variable) continue;
    for (std::size_t last = first + 1; last < all.size(); ++last) {
      if (assigned(all[last]) != variable) continue;
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(first) + 1;
      const auto to = all.begin() + static_cast<std::ptrdiff_t>(last) + 1;
      const auto called =
          std::find_if(from, to, [&](const clang::Stmt* each) { return calls_function(each, is_tensor); });
      if (called != to) return *called;
    }
  }
  return nullptr;
}

}  // namespace

flow::BlockId FunctionLowering::label_block(const clang::LabelDecl* label) {
  const auto known = labels_.find(label);
  return known != labels_.end() ? known->second : labels_[label] = builder_.block();
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

// A handler may start from anywhere in the try block; it is taken to start from its beginning.
void FunctionLowering::try_statement(const clang::CXXTryStmt* stmt) {
  const BlockId after = builder_.block();
  BlockId body = builder_.block();
  std::vector<BlockId> handlers;
  for (unsigned i = 0; i < stmt->getNumHandlers(); ++i) {
    const BlockId handler = builder_.block();
    handlers.push_back(handler);
    builder_.branch(builder_.op(std::string(kMayThrow), {}), body, handler);
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
  const clang::Stmt* half_done = leaves_half_done(
      stmt->getTryBlock(), [&](const Expr* call) { return facts(call).kind == TypeKind::kTensor; });
  open_scope();
  for (const clang::Stmt* each : stmt->getTryBlock()->body()) {
    for (std::size_t i = 0; each == half_done && i < handlers.size(); ++i) {
      const BlockId next = builder_.block();
      builder_.branch(builder_.op(std::string(kMayThrow), {}), next, handlers[i]);
      builder_.enter(next);
    }
    statement(each);
  }
  close_scope();
  builder_.jump(after);
  builder_.enter(after);
}

}  // namespace dtype_guard::clang_front_end
