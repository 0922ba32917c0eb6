// Expressions: the dispatch over expression kinds, conversions, conditions, lambdas and assignment.
#include <clang/AST/ASTContext.h>

#include <limits>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

std::optional<flow::Constant> FunctionLowering::evaluated(const clang::Expr* expr) const {
  if (expr->isValueDependent() || expr->isTypeDependent() || llvm::isa<clang::InitListExpr>(expr)) return {};
  const TypeFacts type = facts(expr);
  const bool enumeration = expr->getType()->isEnumeralType();
  if (type.kind != TypeKind::kNumber && !(type.kind == TypeKind::kDtype && enumeration)) return {};
  if (type.kind == TypeKind::kNumber && (type.record || is_half(type.element))) return {};
  clang::Expr::EvalResult result;
  if (!expr->EvaluateAsRValue(result, unit_.context) || result.HasSideEffects) return {};
  if (result.Val.isInt()) {
    const llvm::APSInt& exact = result.Val.getInt();
    const bool is_beyond = exact.isUnsigned() && exact.getActiveBits() >= 64;
    if (is_beyond && !exact.isMaxValue()) return {};
    // npos and the like are above every count.
    const std::int64_t number = is_beyond ? std::numeric_limits<std::int64_t>::max() : exact.getExtValue();
    if (type.kind == TypeKind::kDtype) {
      const auto dtype = enumerated_dtype(expr->getType(), number, unit_.types());
      if (dtype) return *dtype;
      return flow::Unknown{};
    }
    if (type.element == Dtype::kBool) return number != 0;
    return number;
  }
  if (result.Val.isFloat()) {
    llvm::APFloat number = result.Val.getFloat();
    bool lossy = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
    return number.convertToDouble();
  }
  return {};
}

std::optional<std::int64_t> FunctionLowering::integer(const clang::Expr* expr) const {
  const auto constant = evaluated(expr);
  if (!constant || !std::holds_alternative<std::int64_t>(*constant)) return {};
  return std::get<std::int64_t>(*constant);
}

flow::ValueId FunctionLowering::value(const clang::Expr* expr) {
  expr = stripped(expr);
  if (expr->getType().isNull()) return builder_.unknown();  // what an error left of an initialiser
  Builder::At here(builder_, position(expr));
  if (auto constant = evaluated(expr)) return builder_.constant(std::move(*constant));
  if (expr->isGLValue()) return load(lvalue(expr));
  // Calls that lead to a place without being glvalues: `holder->`, `vector.data()`, get() of a smart pointer.
  if (llvm::isa<clang::CXXOperatorCallExpr, clang::CXXMemberCallExpr>(expr) &&
      (expr->getType()->isPointerType() || facts(expr).kind == TypeKind::kPointer)) {
    return load(lvalue(expr));
  }
  return value_of(expr);
}

flow::ValueId FunctionLowering::value_of(const clang::Expr* expr) {
  using namespace clang;
  if (const auto* cast = llvm::dyn_cast<CastExpr>(expr)) return converted(cast);
  if (const auto* made = llvm::dyn_cast<CXXConstructExpr>(expr)) return construct(made);
  if (const auto* called = llvm::dyn_cast<CallExpr>(expr)) return call(called);
  if (const auto* compound = llvm::dyn_cast<CompoundAssignOperator>(expr))
    return compound_assignment(compound);
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(expr)) return binary(operation);
  if (const auto* operation = llvm::dyn_cast<UnaryOperator>(expr)) return unary(operation);
  if (const auto* choice = llvm::dyn_cast<AbstractConditionalOperator>(expr)) return conditional(choice);
  if (const auto* list = llvm::dyn_cast<InitListExpr>(expr)) return init_list(list);
  if (const auto* closure = llvm::dyn_cast<LambdaExpr>(expr)) return lambda(closure);
  if (const auto* fresh = llvm::dyn_cast<CXXNewExpr>(expr)) return new_expression(fresh);
  if (llvm::isa<CXXThisExpr>(expr)) return this_value();
  if (llvm::isa<CXXNullPtrLiteralExpr, GNUNullExpr>(expr)) return builder_.none();
  if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(expr)) {
    if (text->getCharByteWidth() == 1) return builder_.constant(text->getString().str());
    return builder_.unknown();
  }
  if (llvm::isa<ImplicitValueInitExpr, CXXScalarValueInitExpr>(expr)) return zero(expr->getType());
  if (llvm::isa<CXXThrowExpr>(expr)) {
    builder_.unreachable();
    return 0;
  }
  if (const auto* opaque = llvm::dyn_cast<OpaqueValueExpr>(expr); opaque && opaque->getSourceExpr()) {
    return value(opaque->getSourceExpr());
  }
  if (const auto* block = llvm::dyn_cast<StmtExpr>(expr)) {
    const CompoundStmt* body = block->getSubStmt();
    open_scope();
    ValueId last = 0;
    for (const Stmt* each : body->body()) {
      const auto* final = llvm::dyn_cast<Expr>(each);
      if (final && each == body->body_back()) {
        last = value(final);
      } else {
        statement(each);
      }
    }
    close_scope();
    return last ? last : builder_.unknown();
  }
  if (const auto* copied = llvm::dyn_cast<ArrayInitLoopExpr>(expr)) return value(copied->getCommonExpr());
  if (const auto* freed = llvm::dyn_cast<CXXDeleteExpr>(expr)) {
    value(freed->getArgument());
    return 0;
  }
  return builder_.unknown();
}

flow::ValueId FunctionLowering::converted(const clang::CastExpr* cast) {
  const clang::Expr* inner = cast->getSubExpr();
  const bool implicit = llvm::isa<clang::ImplicitCastExpr>(cast) &&
                        !llvm::cast<clang::ImplicitCastExpr>(cast)->isPartOfExplicitCast();
  if (const clang::CXXMemberCallExpr* called = written_conversion(cast)) {
    const clang::Expr* object = called->getImplicitObjectArgument();
    const TypeFacts from = facts(object);
    if (from.kind != TypeKind::kNumber) return value(called);
    return number_as(value(object), from.element, facts(cast->getType()).element, false);
  }
  switch (cast->getCastKind()) {
    case clang::CK_LValueToRValue:
      return load(lvalue(inner));
    case clang::CK_NullToPointer:
      return builder_.none();
    case clang::CK_ToVoid:
      value(inner);
      return 0;
    case clang::CK_FloatingCast:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral:
    case clang::CK_FloatingToBoolean:
      return number_cast(cast, implicit);
    case clang::CK_BitCast: {
      const TypeFacts to = facts(cast->getType());
      const TypeFacts from = facts(inner);
      const auto* source = llvm::dyn_cast<clang::CallExpr>(stripped(inner));
      if (to.kind == TypeKind::kBuffer && source && inner->getType()->isVoidPointerType()) {
        const clang::FunctionDecl* callee = source->getDirectCallee();
        if (callee && callee->getIdentifier() && callee->getName().contains("alloc")) {
          return allocate("memory", to.element);
        }
      }
      const clang::QualType pointee = inner->getType()->getPointeeType();
      const bool is_bytes = !pointee.isNull() && (pointee->isCharType() || pointee->isStdByteType());
      if (to.kind == TypeKind::kBuffer && (is_bytes || inner->getType()->isVoidPointerType())) {
        return builder_.op("pointer_cast", {{"self", value(inner)}, {"dtype", dtype_constant(to.element)}});
      }
      // The same bits under another element type are not converted: their values are unknown.
      if (to.kind == TypeKind::kBuffer && from.kind == TypeKind::kBuffer && to.element != from.element) {
        return builder_.op("reinterpret_cast",
                           {{"self", value(inner)}, {"dtype", dtype_constant(to.element)}});
      }
      return value(inner);
    }
    case clang::CK_IntegralToBoolean: {  // if (x.dim())
      const auto* asked = llvm::dyn_cast<clang::CXXMemberCallExpr>(stripped(inner));
      const clang::CXXMethodDecl* method = asked ? asked->getMethodDecl() : nullptr;
      const bool counts = method && method->getIdentifier() && method->getName() == "dim";
      const ValueId number = value(inner);
      if (!counts) return number;
      const ValueId zero = builder_.constant(std::int64_t{0});
      return builder_.op("ne", {{"self", number}, {"other", zero}});
    }
    default:
      return value(inner);
  }
}

flow::ValueId FunctionLowering::conditional(const clang::AbstractConditionalOperator* expr) {
  const auto* short_form = llvm::dyn_cast<clang::BinaryConditionalOperator>(expr);
  const auto* full_form = llvm::dyn_cast<clang::ConditionalOperator>(expr);
  if (full_form && expr->getType()->isVoidType()) {  // assert(): cond ? void(0) : fail()
    const auto fails = [](const clang::Expr* arm) {
      const auto* called = llvm::dyn_cast<clang::CallExpr>(stripped(arm));
      return (called && called->getDirectCallee() && called->getDirectCallee()->isNoReturn()) ||
             is_fatal(arm);
    };
    if (fails(full_form->getFalseExpr())) {
      assume(full_form->getCond(), true);
      return 0;
    }
  }
  const ValueId condition = short_form ? value(short_form->getCommon()) : value(full_form->getCond());
  const BlockId yes = builder_.block(), no = builder_.block(), after = builder_.block();
  builder_.branch(condition, yes, no);
  Arguments arms;
  const auto arm = [&](BlockId block, const clang::Expr* given, ValueId ready) {
    builder_.enter(block);
    ValueId result = ready ? ready : value(given);
    // What was made before the branch exists on both sides of it; the copy on this one.
    if (result && result <= condition) result = builder_.value(Op::kCopy, result);
    if (builder_.open() && result) arms.push_back({"", result});
    builder_.jump(after);
  };
  arm(yes, expr->getTrueExpr(), short_form ? condition : 0);
  arm(no, expr->getFalseExpr(), 0);
  builder_.enter(after);
  if (arms.empty()) return builder_.unknown();
  return arms.size() == 1 ? arms.front().value : builder_.value(Op::kPhi, "", arms);
}

// Both sides are lowered in line: their facts are wanted, and neither has effects that matter to dtypes.
flow::ValueId FunctionLowering::logical(const clang::BinaryOperator* expr) {
  const ValueId left = value(expr->getLHS());
  const ValueId right = value(expr->getRHS());
  return builder_.op(expr->getOpcode() == clang::BO_LAnd ? "logical_and" : "logical_or",
                     {{"self", left}, {"other", right}});
}

flow::ValueId FunctionLowering::lambda(const clang::LambdaExpr* expr) {
  Arguments captures;
  auto initialiser = expr->capture_init_begin();
  for (const clang::LambdaCapture& capture : expr->captures()) {
    const clang::Expr* source = *initialiser++;
    if (capture.capturesThis()) {
      captures.push_back({"this", this_value()});
    } else if (capture.capturesVariable()) {
      const clang::ValueDecl* variable = capture.getCapturedVar();
      const bool by_reference = capture.getCaptureKind() == clang::LCK_ByRef;
      ValueId captured = 0;
      if (by_reference && !(variable->isInitCapture())) {
        const Lvalue place = variable_place(variable);
        captured = place.is_value ? place.place.base : builder_.address(place.place);
      } else {
        captured = by_reference ? address_of(source) : value(source);
      }
      captures.push_back({variable->getNameAsString(), captured});
    }
  }
  return builder_.value(Op::kClosure, unit_.key(expr->getCallOperator()), std::move(captures));
}

flow::ValueId FunctionLowering::assignment(const clang::Expr* target, const clang::Expr* source) {
  target = stripped(target);
  if (const auto* part = llvm::dyn_cast<clang::MemberExpr>(target)) {
    if (const auto described = descriptor_part(part, source)) return *described;
  }
  const auto variant = as_variant(target->getType(), source);
  const ValueId assigned = variant                      ? *variant
                           : is_text(target->getType()) ? assigned_text(source)
                                                        : copied(source);
  const auto* call = llvm::dyn_cast<clang::CallExpr>(target);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (callee && plain_name(*callee) == "std::tie") {
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      const Lvalue part = cell(held(assigned), i, call->getType());
      assign(lvalue(call->getArg(i)), load(part));
    }
    return assigned;
  }
  // Assigning to a temporary tensor (`x[0] = y`, `x.index({...}) = y`) writes into the storage it views.
  const bool tensor = facts(target).kind == TypeKind::kTensor;
  const bool names_object = target->isLValue() && !(callee && callee->getReturnType()->isRecordType());
  if (tensor && !names_object) {
    builder_.effect(Op::kWrite, "", {{"", value(target)}, {"", assigned}});
    return assigned;
  }
  const Lvalue place = lvalue(target);
  if (place.is_value && facts(target).kind == TypeKind::kObject && holds_values(facts(target))) {
    builder_.op("assign_object", {{"self", place.place.base}, {"other", assigned}});
  }
  assign(place, assigned);
  store_lanes(target, assigned);
  return assigned;
}

}  // namespace dtype_guard::clang_front_end
