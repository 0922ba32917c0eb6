// Numbers in plain C++: implicit conversions become visible casts, and the result of arithmetic has
// the type that the language gives it.
#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

flow::ValueId FunctionLowering::dtype_constant(Dtype dtype) { return builder_.constant(dtype); }

// An element of a typed buffer: that is how the IR says "some number of this dtype".
flow::ValueId FunctionLowering::number(Dtype dtype, Arguments from) {
  Arguments given = {{"dtype", dtype_constant(dtype)}};
  for (const flow::Argument& each : from) {
    if (each.value) given.push_back(each);
  }
  const ValueId storage = builder_.value(Op::kAlloc, "number", std::move(given));
  return builder_.load({0, storage, {{Place::Step::Kind::kAnyCell, "", 0}}});
}

// A number converted to another type. Widening a half number also records the half type, since the number may
// be an unknown value: a field, a function's result.
flow::ValueId FunctionLowering::number_as(ValueId source, Dtype from, Dtype to, bool implicit) {
  const ValueId target = dtype_constant(to);
  const bool widens = is_half(from) && is_floating(to) && bits(to) > bits(from);
  return builder_.cast(source, target, implicit, widens ? dtype_constant(from) : ValueId{0});
}

flow::ValueId FunctionLowering::number_cast(const clang::CastExpr* cast, bool implicit) {
  const TypeFacts to = facts(cast->getType());
  const TypeFacts from = facts(cast->getSubExpr());
  if (!is_floating(to.element) && !is_floating(from.element)) return value(cast->getSubExpr());
  const ValueId source = value(cast->getSubExpr());
  return number_as(source, from.element, to.element, implicit);
}

// A function of numbers whose body is not read, such as fmaxf or __shfl_xor_sync, gives something of what it
// is given. One that only widens a half number is an explicit conversion.
flow::ValueId FunctionLowering::number_function(llvm::ArrayRef<const clang::Expr*> arguments, Dtype result) {
  Arguments alike;
  std::optional<ValueId> widened;
  for (const clang::Expr* each : arguments) {
    const TypeFacts type = facts(each);
    const bool counts = type.kind == TypeKind::kNumber && is_floating(type.element) && !evaluated(each);
    const ValueId given = value(each);
    if (counts && type.element == result) alike.push_back({"", given});
    const bool only = arguments.size() == 1 && is_half(type.element) && is_floating(result);
    if (counts && only && bits(result) > bits(type.element))
      widened = number_as(given, type.element, result, false);
  }
  if (widened) return *widened;
  if (alike.empty()) return number(result);
  return alike.size() == 1 ? alike[0].value : builder_.value(Op::kPhi, "", std::move(alike));
}

namespace {
std::string operation_name(clang::BinaryOperatorKind opcode) {
  switch (opcode) {
    case clang::BO_Mul:
      return "mul";
    case clang::BO_Div:
      return "div";
    case clang::BO_Rem:
      return "remainder";
    case clang::BO_Add:
      return "add";
    case clang::BO_Sub:
      return "sub";
    case clang::BO_EQ:
      return "eq";
    case clang::BO_NE:
      return "ne";
    case clang::BO_LT:
      return "lt";
    case clang::BO_GT:
      return "gt";
    case clang::BO_LE:
      return "le";
    case clang::BO_GE:
      return "ge";
    default:
      return {};
  }
}
}  // namespace

// The operand as the operation takes it: when its own type is narrower, a cast that belongs to the operation.
flow::ValueId FunctionLowering::widened(const clang::Expr* operand, Dtype target) {
  const clang::Expr* plain = stripped(operand);
  while (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(plain)) {
    const clang::CastKind kind = cast->getCastKind();
    if (kind != clang::CK_FloatingCast && kind != clang::CK_IntegralToFloating) break;
    if (cast->isPartOfExplicitCast()) break;
    plain = stripped(cast->getSubExpr());
  }
  const Dtype own = facts(plain).element;
  if (evaluated(plain) || own == target || own == Dtype::kUndefined) return value(plain);
  const ValueId narrow = value(plain);
  return number_as(narrow, own, target, true);
}

flow::ValueId FunctionLowering::number_operation(const std::string& name, const clang::Expr* left,
                                                 const clang::Expr* right, clang::QualType result) {
  const Dtype dtype = facts(result).element;
  const ValueId a = widened(left, dtype);
  const ValueId b = widened(right, dtype);
  const ValueId outcome = builder_.op(name, {{"self", a}, {"other", b}});
  // Two constants would make a number of no particular type; the language says which it is.
  return is_half(dtype) ? builder_.cast(outcome, dtype_constant(dtype), true) : outcome;
}

// An unsigned number is never below 0.
std::optional<bool> FunctionLowering::against_zero(const clang::BinaryOperator* expr) const {
  const clang::Expr *left = expr->getLHS(), *right = expr->getRHS();
  if (!left->getType()->isUnsignedIntegerType() || left->getType()->isBooleanType()) return std::nullopt;
  const clang::BinaryOperatorKind kind = expr->getOpcode();
  if (integer(right) == 0 && (kind == clang::BO_LT || kind == clang::BO_GE)) return kind == clang::BO_GE;
  if (integer(left) == 0 && (kind == clang::BO_GT || kind == clang::BO_LE)) return kind == clang::BO_LE;
  return std::nullopt;
}

flow::ValueId FunctionLowering::binary(const clang::BinaryOperator* expr) {
  if (expr->isAssignmentOp()) return assignment(expr->getLHS(), expr->getRHS());
  if (expr->isLogicalOp()) return logical(expr);
  if (expr->getOpcode() == clang::BO_Comma) {
    value(expr->getLHS());
    return value(expr->getRHS());
  }
  const std::string name = operation_name(expr->getOpcode());
  const TypeFacts type = facts(expr);
  const TypeFacts left = facts(expr->getLHS());
  if (left.kind == TypeKind::kBuffer || left.kind == TypeKind::kPointer) {  // pointer arithmetic
    value(expr->getRHS());
    if (!expr->isComparisonOp()) return value(expr->getLHS());
  }
  if (type.kind == TypeKind::kBuffer) return value(expr->getRHS());  // 1 + pointer
  if (expr->isComparisonOp() && !name.empty()) {
    const ValueId a = value(expr->getLHS());
    const ValueId b = value(expr->getRHS());
    if (const auto known = against_zero(expr)) return builder_.constant(*known);
    return builder_.op(name, {{"self", a}, {"other", b}});
  }
  if (type.kind == TypeKind::kNumber && is_floating(type.element) && !name.empty()) {
    return number_operation(name, expr->getLHS(), expr->getRHS(), expr->getType());
  }
  const ValueId a = value(expr->getLHS());
  const ValueId b = value(expr->getRHS());
  return type.kind == TypeKind::kNumber ? number(type.element, {{"", a}, {"", b}}) : builder_.unknown();
}

flow::ValueId FunctionLowering::compound_assignment(const clang::CompoundAssignOperator* expr) {
  const TypeFacts target = facts(expr->getLHS());
  const std::string name =
      operation_name(clang::BinaryOperator::getOpForCompoundAssignment(expr->getOpcode()));
  if (target.kind != TypeKind::kNumber) {  // a pointer moves within its buffer
    value(expr->getRHS());
    return value(expr->getLHS());
  }
  if (!is_floating(target.element) || name.empty()) {
    value(expr->getRHS());
    const ValueId changed = number(target.element);
    assign(lvalue(expr->getLHS()), changed);
    return changed;
  }
  const ValueId result =
      number_operation(name, expr->getLHS(), expr->getRHS(), expr->getComputationResultType());
  const Dtype computed = facts(expr->getComputationResultType()).element;
  const ValueId stored =
      computed == target.element ? result : builder_.cast(result, dtype_constant(target.element), true);
  assign(lvalue(expr->getLHS()), stored);
  return stored;
}

flow::ValueId FunctionLowering::unary(const clang::UnaryOperator* expr) {
  switch (expr->getOpcode()) {
    case clang::UO_AddrOf:
      return address_of(expr->getSubExpr());
    case clang::UO_Deref:
      return load(lvalue(expr));
    case clang::UO_LNot:
      return builder_.op("logical_not", {{"self", value(expr->getSubExpr())}});
    case clang::UO_Minus:
      return builder_.op("neg", {{"self", value(expr->getSubExpr())}});
    case clang::UO_Not:
      value(expr->getSubExpr());
      return number(facts(expr).element);
    case clang::UO_PreInc:
    case clang::UO_PostInc:
    case clang::UO_PreDec:
    case clang::UO_PostDec: {
      const TypeFacts type = facts(expr);
      if (type.kind != TypeKind::kNumber) return value(expr->getSubExpr());
      const Lvalue place = lvalue(expr->getSubExpr());
      const ValueId before = expr->isPostfix() ? load(place) : ValueId{0};  // what `n--` gives
      const ValueId changed = number(type.element);
      assign(place, changed);
      return before ? before : changed;
    }
    default:
      return value(expr->getSubExpr());
  }
}

// What a number says when it becomes a c10::Scalar: a constant as it is, otherwise a number of its C++ type.
flow::ValueId FunctionLowering::scalar_of(const clang::Expr* expr) {
  expr = stripped(expr);
  const TypeFacts type = facts(expr);
  const ValueId source = value(expr);
  if (type.kind != TypeKind::kNumber || evaluated(expr)) return source;
  Builder::At here(builder_, position(expr));
  return number(type.element);
}

}  // namespace dtype_guard::clang_front_end
