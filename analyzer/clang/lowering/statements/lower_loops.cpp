// Loops: what repeats, over conditions and over elements.
#include <algorithm>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

namespace {

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

// Whether it can be asked once more than the code does: comparisons of variables and constants alone.
bool asks_of_variables(const clang::Expr* expr) {
  expr = expr->IgnoreParenImpCasts();
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
    return (operation->isComparisonOp() || operation->isLogicalOp()) &&
           asks_of_variables(operation->getLHS()) && asks_of_variables(operation->getRHS());
  }
  if (const auto* negation = llvm::dyn_cast<clang::UnaryOperator>(expr))
    return (negation->getOpcode() == clang::UO_LNot || negation->getOpcode() == clang::UO_Minus) &&
           asks_of_variables(negation->getSubExpr());
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr))
    return llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()) ||
           asks_of_variables(member->getBase());
  return llvm::isa<clang::DeclRefExpr, clang::IntegerLiteral, clang::CXXBoolLiteralExpr,
                   clang::SubstNonTypeTemplateParmExpr>(expr);
}

// c10::irange(n), c10::irange(first, last)
const clang::CallExpr* counted_range(const clang::Expr* range) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(stripped(range));
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  const bool counts = callee && plain_name(*callee) == "c10::irange" &&
                      (call->getNumArgs() == 1 || call->getNumArgs() == 2) &&
                      std::all_of(call->arg_begin(), call->arg_end(), asks_of_variables);
  return counts ? call : nullptr;
}

}  // namespace

// A loop is taken to run at least once, unless its condition is known to be false at entry.
void FunctionLowering::enter_loop(const clang::Expr* condition, flow::BlockId body, flow::BlockId after) {
  if (!condition || !asks_of_variables(condition)) return builder_.jump(body);
  const ValueId holds = value(condition);
  builder_.branch(builder_.op(std::string(kLoopEntered), {{"", holds}}), body, after);
}

void FunctionLowering::enter_range(const clang::Expr* range, flow::BlockId body, flow::BlockId after) {
  const clang::CallExpr* counted = counted_range(range);
  if (!counted) return builder_.jump(body);
  const bool from_zero = counted->getNumArgs() == 1;
  const ValueId first = from_zero ? builder_.constant(std::int64_t{0}) : value(counted->getArg(0));
  const ValueId last = value(counted->getArg(from_zero ? 0 : 1));
  const ValueId holds = builder_.op("lt", {{"self", first}, {"other", last}});
  builder_.branch(builder_.op(std::string(kLoopEntered), {{"", holds}}), body, after);
}

void FunctionLowering::loop(const clang::Stmt* init, const clang::VarDecl* variable,
                            const clang::Expr* condition, const clang::Expr* step, const clang::Stmt* body,
                            LoopBegins begins) {
  open_scope();
  statement(init);
  const BlockId test = builder_.block(), again = builder_.block(), next = builder_.block(),
                after = builder_.block();
  if (begins == LoopBegins::kByItsBodyIfAtAll) {
    enter_loop(condition, again, after);
  } else {
    builder_.jump(begins == LoopBegins::kByItsBody ? again : test);
  }
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
  // What is written through a reference to a character is not followed.
  if (by_reference && is_changing_text(range->getType())) assign(container, builder_.unknown());
  enter_range(range, again, after);
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
  builder_.branch(builder_.op(std::string(kMoreElements), {}), again, done);
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

}  // namespace dtype_guard::clang_front_end
