// Calls: user functions, overloaded operators, and library functions whose meaning is known by name.
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <unordered_set>

#include "analyzer/clang/lowering/function_lowering.h"
#include "rules/operators/library_operators.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

llvm::ArrayRef<const Expr*> arguments_of(const clang::CallExpr* call, unsigned from = 0) {
  return llvm::ArrayRef<const Expr*>(call->getArgs(), call->getNumArgs()).drop_front(from);
}

struct OperatorSpelling {
  clang::OverloadedOperatorKind kind;
  unsigned operands;
  const char* name;
};
constexpr OperatorSpelling kOperatorSpellings[] = {
    {clang::OO_Star, 2, "mul"},
    {clang::OO_Plus, 2, "add"},
    {clang::OO_Minus, 2, "sub"},
    {clang::OO_Slash, 2, "div"},
    {clang::OO_Percent, 2, "remainder"},
    {clang::OO_Amp, 2, "bitwise_and"},
    {clang::OO_Pipe, 2, "bitwise_or"},
    {clang::OO_Caret, 2, "bitwise_xor"},
    {clang::OO_EqualEqual, 2, "eq"},
    {clang::OO_ExclaimEqual, 2, "ne"},
    {clang::OO_Less, 2, "lt"},
    {clang::OO_Greater, 2, "gt"},
    {clang::OO_LessEqual, 2, "le"},
    {clang::OO_GreaterEqual, 2, "ge"},
    {clang::OO_StarEqual, 2, "mul_"},
    {clang::OO_PlusEqual, 2, "add_"},
    {clang::OO_MinusEqual, 2, "sub_"},
    {clang::OO_SlashEqual, 2, "div_"},
    {clang::OO_Minus, 1, "neg"},
    {clang::OO_Tilde, 1, "bitwise_not"},
    {clang::OO_Exclaim, 1, "logical_not"},
    {clang::OO_AmpAmp, 2, "logical_and"},
    {clang::OO_PipePipe, 2, "logical_or"},
};

const char* operator_name(clang::OverloadedOperatorKind kind, unsigned operands) {
  for (const OperatorSpelling& each : kOperatorSpellings) {
    if (each.kind == kind && each.operands == operands) return each.name;
  }
  return nullptr;
}

// ATen computes `1 - x` in a copy of x, whose dtype then stays; where the operands can be exchanged it
// exchanges them.
std::string with_number_first(const std::string& name) {
  const bool ordered = name == "sub" || name == "div" || name == "remainder";
  return ordered ? name + ".number_first" : name;
}

// A function whose body is not read, in a header of another repository or an external one, may wrap a call to
// attention: the report lists it as not analysed. Installed libraries and templates are left out.
void note_unread(TranslationUnit& unit, const std::string& caller, const clang::FunctionDecl* callee,
                 llvm::ArrayRef<const Expr*> arguments) {
  const clang::SourceManager& sources = unit.context.getSourceManager();
  const bool skipped = std::any_of(callee->redecls_begin(), callee->redecls_end(),
                                   [](const clang::FunctionDecl* each) { return each->hasSkippedBody(); });
  const bool takes_tensor = std::any_of(arguments.begin(), arguments.end(), [&](const Expr* each) {
    return classify(stripped(each)->getType(), unit.types()).kind == TypeKind::kTensor;
  });
  if (!skipped || !takes_tensor || callee->isTemplateInstantiation()) return;
  if (!is_found_as_the_users(sources, callee->getLocation())) return;
  const llvm::StringRef file = sources.getFilename(sources.getExpansionLoc(callee->getLocation()));
  const std::string name = plain_name(*callee);
  for (const char* library : {"at::", "torch::", "c10::"}) {
    if (name.starts_with(library)) return;
  }
  if (file.starts_with("/usr/") || file.starts_with("/opt/")) return;
  const std::string reason =
      "the body of '" + name + "' is not read: " + file.str() + " is outside the project";
  const auto& known = unit.module.not_lowered;
  const bool said =
      std::any_of(known.begin(), known.end(), [&](const NotLowered& each) { return each.reason == reason; });
  if (!said) unit.not_lowered(caller, reason, arguments.front()->getSourceRange());
}

}  // namespace

flow::ValueId FunctionLowering::call(const clang::CallExpr* expr) {
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expr))
    return operator_call(operation);
  if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr)) return member_call(method);
  if (llvm::isa<clang::UserDefinedLiteral>(expr) && is_text(expr->getType()))
    return value(expr->getArg(0));  // "wide"s
  if (const clang::FunctionDecl* callee = expr->getDirectCallee()) return free_call(expr, callee);
  if (llvm::isa<clang::CXXPseudoDestructorExpr>(stripped(expr->getCallee()))) return builder_.none();
  Arguments given = {{"", value(expr->getCallee())}};  // through a function pointer
  clang::QualType pointed = expr->getCallee()->getType();
  if (!pointed->getPointeeType().isNull()) pointed = pointed->getPointeeType();
  const auto* type = pointed->getAs<clang::FunctionProtoType>();
  const auto arguments = arguments_of(expr);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const bool declared = type && i < type->getNumParams();
    given.push_back({"", declared ? pass(arguments[i], type->getParamType(i)) : value(arguments[i])});
  }
  return builder_.value(Op::kCall, "", std::move(given));
}

flow::ValueId FunctionLowering::user_call(const clang::FunctionDecl* callee, std::optional<ValueId> object,
                                          llvm::ArrayRef<const Expr*> arguments, bool dispatched) {
  const Api* api = dispatched ? nullptr : contract_of_body(callee);
  Arguments given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto index = static_cast<unsigned>(i);
    const bool named = index < callee->getNumParams();
    given.push_back(
        {"", named ? pass(arguments[i], callee->getParamDecl(index)->getType()) : value(arguments[i])});
  }
  if (api) {
    builder_.effect(Op::kSink, api->name, given);
  } else if (!dispatched) {
    checked_operands(callee, given);
  }
  if (object) given.insert(given.begin(), {"", *object});
  return builder_.value(Op::kCall, dispatched ? virtual_key(callee) : unit_.key(callee), std::move(given));
}

flow::ValueId FunctionLowering::free_call(const clang::CallExpr* expr, const clang::FunctionDecl* callee) {
  const auto arguments = arguments_of(expr);
  const std::string name = plain_name(*callee);
  // Stated by the user, so it holds whether the body can be seen or not.
  if (const auto helper = unit_.contracts.helpers.find(name); helper != unit_.contracts.helpers.end())
    return helper_call(helper->second, callee, arguments);
  // An operator is what the tables say wherever its header lies, and one that a project declares itself, for
  // an older libtorch, is still the operator.
  const Operator* entry = find_operator(name);
  const bool is_operator = entry && (name.starts_with("at::") || is_library_operator(*entry));
  const clang::FunctionDecl* definition = unit_.user_definition(callee);
  if (definition && !is_operator) return user_call(definition, std::nullopt, arguments);
  if (const Api* api = contract_of(name)) return sink(*api, callee, arguments);
  if (callee->isNoReturn()) {
    builder_.unreachable();
    return 0;
  }
  if (const auto known = special_function(name, expr, callee)) return *known;
  note_unread(unit_, result_.name, callee, arguments);
  if (unit_.is_user_function(callee) && !is_operator) return user_call(callee, std::nullopt, arguments);
  const ValueId result = external_call(callee, std::nullopt, arguments);
  lose_written(callee, arguments);
  return result;
}

flow::ValueId FunctionLowering::operator_call(const clang::CXXOperatorCallExpr* expr) {
  const clang::FunctionDecl* callee = expr->getDirectCallee();
  const clang::OverloadedOperatorKind kind = expr->getOperator();
  const unsigned operands = expr->getNumArgs();
  const Expr* first = expr->getArg(0);
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  const TypeFacts left = facts(first);
  if (const clang::FunctionDecl* definition = unit_.user_definition(callee)) {
    // A project's own half type is a number, whatever its operators are made of.
    const bool numeric = left.kind == TypeKind::kNumber;
    if (!numeric && !(definition->isDefaulted() && kind == clang::OO_Equal)) {
      const bool bound = method && method->isInstance();
      const std::optional<ValueId> object = bound ? std::optional(value(first)) : std::nullopt;
      return user_call(definition, object, arguments_of(expr, bound ? 1 : 0));
    }
  }
  if (kind == clang::OO_Equal) return assignment(first, expr->getArg(1));
  if (const auto known = iterator_operator(expr)) return *known;
  if (const auto known = list_iterator_operator(expr)) return *known;
  if (const auto known = called_object(expr)) return *known;
  const bool held_by_item = kind == clang::OO_Star || kind == clang::OO_Arrow;
  if (held_by_item && operands == 1 && is_dictionary_item(left.record)) return value(first);
  if (kind == clang::OO_Call) {
    if (left.kind == TypeKind::kHolder)
      return forward(facts(left.inner).record, value(first), arguments_of(expr, 1));
    if (left.kind == TypeKind::kClosure || left.kind == TypeKind::kPointer) {
      Arguments given = {{"", value(first)}};
      for (const Expr* each : arguments_of(expr, 1)) given.push_back({"", value(each)});
      return builder_.value(Op::kCall, "", std::move(given));
    }
  }
  const bool tensors =
      left.kind == TypeKind::kTensor || (operands > 1 && facts(expr->getArg(1)).kind == TypeKind::kTensor);
  if (kind == clang::OO_Subscript && tensors) {
    const ValueId self = value(first);
    const ValueId index = value(expr->getArg(1));
    const char* name = facts(expr->getArg(1)).kind == TypeKind::kNumber ? "select" : "index";
    return builder_.op(name, {{"self", self}, {name[0] == 's' ? "index" : "indices", index}});
  }
  const char* name = operator_name(kind, operands);
  const TypeFacts result = facts(expr);
  const bool dtypes =
      left.kind == TypeKind::kDtype || (operands > 1 && facts(expr->getArg(1)).kind == TypeKind::kDtype);
  if (name && !tensors && !dtypes && result.kind == TypeKind::kNumber && is_floating(result.element)) {
    if (operands == 1) return builder_.op(name, {{"self", value(first)}});
    std::string plain = name;
    const bool in_place = plain.ends_with("_");
    if (in_place) plain.pop_back();
    const ValueId outcome = number_operation(plain, first, expr->getArg(1), expr->getType());
    if (in_place) assign(lvalue(first), outcome);
    return outcome;
  }
  if (name && (tensors || dtypes || left.kind == TypeKind::kOptional || left.kind == TypeKind::kNumber)) {
    const ValueId self = value(first);
    if (operands == 1) return builder_.op(name, {{"self", self}});
    const ValueId other = value(expr->getArg(1));
    const bool number_first = callee && !method && callee->getNumParams() == 2 &&
                              facts(callee->getParamDecl(0)->getType()).kind == TypeKind::kScalar &&
                              facts(callee->getParamDecl(1)->getType()).kind == TypeKind::kTensor;
    return builder_.op(number_first ? with_number_first(name) : name, {{"self", self}, {"other", other}});
  }
  const bool compares = kind == clang::OO_EqualEqual || kind == clang::OO_ExclaimEqual;
  if (compares && operands == 2 && (is_text(first->getType()) || is_text(expr->getArg(1)->getType()))) {
    const ValueId self = value(first);
    return builder_.op(name, {{"self", self}, {"other", value(expr->getArg(1))}});
  }
  Arguments given;
  for (const Expr* each : arguments_of(expr)) {
    if (!llvm::isa<clang::DeclRefExpr, clang::StringLiteral>(stripped(each)))
      given.push_back({"", value(each)});
  }
  // A table of functions that is indexed by a dtype has one function for each: the index is evaluated.
  if (kind == clang::OO_Subscript && operands == 2 && facts(expr->getArg(1)).kind == TypeKind::kDtype)
    value(expr->getArg(1));
  lose_operand(expr);
  // A comparison with an unknown value still tells which operands a condition depends on.
  return compares && !given.empty() ? builder_.op("compare", std::move(given)) : builder_.unknown();
}

flow::ValueId FunctionLowering::member_call(const clang::CXXMemberCallExpr* expr) {
  const clang::CXXMethodDecl* method = expr->getMethodDecl();
  const Expr* object = expr->getImplicitObjectArgument();
  const auto arguments = arguments_of(expr);
  if (!method) {
    for (const Expr* each : arguments) value(each);
    return builder_.unknown();
  }
  if (const auto known = exchanging_member(object, method, arguments)) return *known;
  if (const auto known = text_member(object, method, arguments)) return *known;
  TypeFacts type = facts(object);
  if (type.kind == TypeKind::kPointer && !type.record) type = facts(type.inner);
  if (llvm::isa<clang::CXXConversionDecl>(method)) {
    const TypeFacts result = facts(method->getReturnType());
    if (type.kind == TypeKind::kNumber) {
      const ValueId source = value(object);
      if (result.element == type.element || result.kind != TypeKind::kNumber) return source;
      return number_as(source, type.element, result.element, true);
    }
    if (result.element == Dtype::kBool && type.kind != TypeKind::kObject) {  // explicit operator bool
      return builder_.op("defined", {{"self", value(object)}});
    }
  }
  // The object that a helper is called on is no operand: it holds settings, not the tensor.
  const auto helper = unit_.contracts.helpers.find(plain_name(*method));
  if (helper != unit_.contracts.helpers.end()) {
    value(object);
    return helper_call(helper->second, method, arguments);
  }
  const clang::FunctionDecl* definition = unit_.user_definition(method);
  const auto* named = llvm::dyn_cast<clang::MemberExpr>(stripped(expr->getCallee()));
  const bool dispatched = is_dispatched(method) && !(named && named->hasQualifier());
  if (definition && !dispatched) return user_call(definition, value(object), arguments);
  if (const Api* api = contract_of(plain_name(*method))) return sink(*api, method, arguments);
  if (const auto by_name = dispatched_operator(method, object, arguments)) return *by_name;
  if (method->getIdentifier() || llvm::isa<clang::CXXConversionDecl>(method)) {
    if (const auto known = member(type, object, method, arguments)) return *known;
  }
  if (unit_.is_user_function(method) && (dispatched || !method->isVirtual()))
    return user_call(method, value(object), arguments, dispatched);
  const ValueId result = external_call(method, value(object), arguments);
  lose_written(method, arguments);
  return result;
}

}  // namespace dtype_guard::clang_front_end
