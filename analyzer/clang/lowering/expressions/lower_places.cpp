// Places: variables, fields, cells and what references and pointers lead to.
#include <algorithm>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

namespace {
// Calls that give back their argument as it is.
bool is_transparent(const clang::FunctionDecl* callee) {
  const std::string name = plain_name(*callee);
  return name == "std::move" || name == "std::forward" || name == "std::as_const" || name == "std::ref" ||
         name == "std::cref" || name == "std::data" || name == "std::begin";
}

bool is_one_of(llvm::StringRef name, std::initializer_list<llvm::StringRef> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
}  // namespace

bool FunctionLowering::is_rebindable_reference(clang::QualType type) const {
  const auto* reference = type->getAs<clang::LValueReferenceType>();
  if (!reference || reference->getPointeeType().isConstQualified()) return false;
  switch (facts(type).kind) {
    case TypeKind::kTensor:
    case TypeKind::kDtype:
    case TypeKind::kOptions:
    case TypeKind::kNumber:
    case TypeKind::kScalar:
    case TypeKind::kOptional:
    case TypeKind::kList:
    case TypeKind::kMap:
      return true;
    default:  // objects, modules, buffers and pointers are known by identity
      return is_text(type);
  }
}

FunctionLowering::Lvalue FunctionLowering::field(Lvalue object, const std::string& name) {
  object.place.path.push_back({Place::Step::Kind::kField, name, 0});
  object.is_value = object.is_element = false;
  return object;
}

ValueId FunctionLowering::load(const Lvalue& from) {
  return from.is_value ? from.place.base : builder_.load(from.place);
}

void FunctionLowering::assign(const Lvalue& to, ValueId value) {
  if (to.is_element) {
    Lvalue buffer = to;
    buffer.place.path.pop_back();
    buffer.is_value = buffer.place.path.empty() && buffer.place.base != 0;
    builder_.effect(Op::kWrite, "", {{"", load(buffer)}, {"", value}});
  } else if (!to.is_value) {
    builder_.store(to.place, value);
  }
}

ValueId FunctionLowering::address_of(const clang::Expr* expr) {
  const Lvalue target = lvalue(expr);
  switch (facts(expr).kind) {
    case TypeKind::kObject:
      if (is_text(expr->getType())) break;  // a value, which can be another
      return load(target);
    case TypeKind::kHolder:
    case TypeKind::kLibraryModule:
    case TypeKind::kPointer:
    case TypeKind::kBuffer:
    case TypeKind::kClosure:
      return load(target);
    default:
      break;
  }
  if (target.is_element) {  // &buffer[i] is the buffer from there on
    Lvalue buffer = target;
    buffer.place.path.pop_back();
    buffer.is_value = buffer.place.path.empty() && buffer.place.base != 0;
    return load(buffer);
  }
  return target.is_value ? target.place.base : builder_.address(target.place);
}

ValueId FunctionLowering::pass(const clang::Expr* expr, clang::QualType type) {
  return is_rebindable_reference(type) ? address_of(expr) : value(expr);
}

FunctionLowering::Lvalue FunctionLowering::variable_place(const clang::ValueDecl* decl) {
  if (const auto at = fixed_.find(decl); at != fixed_.end()) return held(at->second);
  if (const auto at = addresses_.find(decl); at != addresses_.end())
    return {{0, at->second, {}}, false, false};
  if (const auto at = variables_.find(decl); at != variables_.end())
    return {{at->second, 0, {}}, false, false};
  if (const auto at = captures_.find(decl); at != captures_.end()) {
    const Lvalue captured = field(held(this_), at->second.first);
    if (!at->second.second) return captured;
    return {{0, load(captured), {}}, false, false};
  }
  if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(decl)) {
    if (const clang::VarDecl* holder = binding->getHoldingVar()) {  // tuple-like: its initialiser is get<i>
      return lvalue(holder->getInit());
    }
    return lvalue(binding->getBinding());
  }
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) return global(variable);
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl))
    return held(function_pointer(function));
  return held(builder_.unknown());
}

// A constant outside the function is its initialiser, evaluated where it is used; other globals are unknown.
FunctionLowering::Lvalue FunctionLowering::global(const clang::VarDecl* decl) {
  const clang::VarDecl* definition = decl->getInitializingDeclaration();
  const bool constant = decl->getType().getNonReferenceType().isConstQualified();
  // After an error a constant may have lost its initialiser.
  if (!definition || !definition->getInit() || !constant || depth_ > 8 ||
      !unit_.is_user_code(definition->getLocation())) {
    return held(builder_.unknown());
  }
  ++depth_;
  const ValueId initial = value(definition->getInit());
  --depth_;
  return held(initial);
}

FunctionLowering::Lvalue FunctionLowering::member_place(const clang::MemberExpr* expr) {
  const auto* member = llvm::dyn_cast<clang::FieldDecl>(expr->getMemberDecl());
  if (!member) {
    return variable_place(expr->getMemberDecl());  // a static member
  }
  if (const auto mapped = mapped_element(expr)) return *mapped;
  const clang::Expr* object = expr->getBase();
  if (is_tensor_by_pointer(facts(object))) {
    const ValueId tensor = value(object);
    const bool dtype = facts(member->getType()).kind == TypeKind::kDtype;
    return held(dtype ? builder_.value(Op::kDtypeOf, tensor) : builder_.unknown());
  }
  const Lvalue owner = expr->isArrow() ? held(value(object)) : lvalue(object);
  const std::string name = member->getNameAsString();
  // A pair's members are its cells.
  if (plain_name(*member->getParent()) == "std::pair") {
    return cell(owner, name == "second", object->getType());
  }
  // An unnamed struct or union has its members where it stands.
  const Lvalue place = name.empty() ? owner : field(owner, name);
  if (!member->getType()->isReferenceType() || !is_rebindable_reference(member->getType())) return place;
  return {{0, load(place), {}}, false, false};
}

FunctionLowering::Lvalue FunctionLowering::cell(Lvalue container, std::optional<std::int64_t> index,
                                                clang::QualType container_type) {
  const TypeFacts type = facts(container_type);
  container.is_element = type.kind == TypeKind::kBuffer;
  container.is_value = false;
  if (index && !container.is_element) {
    container.place.path.push_back({Place::Step::Kind::kCell, "", *index});
  } else {
    container.place.path.push_back({Place::Step::Kind::kAnyCell, "", 0});
  }
  return container;
}

FunctionLowering::Lvalue FunctionLowering::cell_of(const clang::Expr* container, const clang::Expr* index) {
  if (index && !integer(index)) value(index);
  container = stripped(container);
  const TypeFacts type = facts(container);
  if (type.kind == TypeKind::kPointer) return {{0, value(container), {}}, false, false};
  return cell(lvalue(container), index ? integer(index) : std::nullopt, container->getType());
}

// What * -> and [] of a container, an optional, a pointer or an iterator name.
std::optional<FunctionLowering::Lvalue> FunctionLowering::operator_place(
    const clang::CXXOperatorCallExpr* operation) {
  const clang::Expr* object = operation->getArg(0);
  const TypeFacts type = facts(object);
  const bool container = type.kind == TypeKind::kList || type.kind == TypeKind::kBuffer;
  switch (operation->getOperator()) {
    case clang::OO_Subscript:
      if (type.kind == TypeKind::kMap) return map_element(object, operation->getArg(1));
      if (container) return cell_of(object, operation->getArg(1));
      if (type.kind == TypeKind::kHolder && is_module_list(facts(type.inner).record))
        return listed_module(object, operation->getArg(1));
      return std::nullopt;
    case clang::OO_Star:
    case clang::OO_Arrow:
      if (operation->getNumArgs() != 1) return std::nullopt;
      if (is_list_iterator(object->getType()) && !container) return pointed_at(object);
      if (type.kind == TypeKind::kOptional || type.kind == TypeKind::kPointer ||
          type.kind == TypeKind::kHolder) {
        return lvalue(object);
      }
      if (container && operation->getOperator() == clang::OO_Star) return cell_of(object, nullptr);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// What a method of a list or buffer gives of its elements.
std::optional<FunctionLowering::Lvalue> FunctionLowering::element_place(
    const clang::CXXMemberCallExpr* method, llvm::StringRef name) {
  const clang::Expr* object = method->getImplicitObjectArgument();
  if (name == "at") return cell_of(object, method->getArg(0));
  if (name == "emplace_back" && facts(object).kind == TypeKind::kList) {
    // An object is known by identity; of what can be rebound it is one of the elements.
    const auto given = llvm::ArrayRef<const clang::Expr*>(method->getArgs(), method->getNumArgs());
    const auto element = added_element(name, object, given);
    const TypeKind made = facts(method).kind;
    if (element && (made == TypeKind::kObject || made == TypeKind::kList)) return held(*element);
    if (element) return cell_of(object, nullptr);
  }
  if (name == "front") return cell(lvalue(object), 0, object->getType());
  if (name == "back") return cell_of(object, nullptr);
  if (const auto end = end_of_list(name, object)) return held(*end);
  if (is_one_of(name, {"data", "begin", "cbegin", "get"})) return lvalue(object);
  return std::nullopt;
}

std::optional<FunctionLowering::Lvalue> FunctionLowering::method_place(
    const clang::CXXMemberCallExpr* method) {
  const clang::CXXMethodDecl* callee = method->getMethodDecl();
  if (!callee || !callee->getIdentifier() || unit_.user_definition(callee)) return std::nullopt;
  const clang::Expr* object = method->getImplicitObjectArgument();
  if (const auto listed = module_list_member(callee, object, {method->getArgs(), method->getNumArgs()}))
    return held(*listed);
  const TypeKind kind = facts(object).kind;
  const llvm::StringRef name = callee->getName();
  if (kind == TypeKind::kList || kind == TypeKind::kBuffer) return element_place(method, name);
  if (kind == TypeKind::kMap && name == "at") return map_element(object, method->getArg(0));
  if (kind == TypeKind::kOptional && name == "value") return lvalue(object);
  if ((kind == TypeKind::kPointer || kind == TypeKind::kHolder) && is_one_of(name, {"get", "ptr"}))
    return lvalue(object);
  return std::nullopt;
}

// std::get<I>, and functions that give back what they are given.
std::optional<FunctionLowering::Lvalue> FunctionLowering::call_place(const clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (!callee || call->getNumArgs() < 1 || !callee->isInStdNamespace()) return std::nullopt;
  if (is_transparent(callee)) return lvalue(call->getArg(0));
  const bool gets = callee->getIdentifier() && callee->getName() == "get";
  const auto place = gets ? named_element(callee, call->getArg(0)->getType()) : std::nullopt;
  if (!place) return std::nullopt;
  return cell(lvalue(call->getArg(0)), place, call->getArg(0)->getType());
}

std::optional<FunctionLowering::Lvalue> FunctionLowering::named_place(const clang::Expr* expr) {
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
    if (llvm::isa<clang::VarDecl, clang::BindingDecl, clang::FunctionDecl>(reference->getDecl()))
      return variable_place(reference->getDecl());
  } else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    if (llvm::isa<clang::FieldDecl, clang::VarDecl>(member->getMemberDecl())) return member_place(member);
  } else if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
    return cell_of(subscript->getBase(), subscript->getIdx());
  } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expr)) {
    if (unary->getOpcode() == clang::UO_Deref) return cell_of(unary->getSubExpr(), nullptr);
    if (unary->isIncrementDecrementOp()) {
      value_of(expr);
      return lvalue(unary->getSubExpr());
    }
  } else if (const auto* assigned = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
    if (assigned->isAssignmentOp()) {
      value_of(expr);
      return lvalue(assigned->getLHS());
    }
  } else if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expr)) {
    return operator_place(operation);
  } else if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr)) {
    return method_place(method);
  } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(expr)) {
    return call_place(call);
  }
  return std::nullopt;
}

FunctionLowering::Lvalue FunctionLowering::lvalue(const clang::Expr* expr) {
  expr = stripped(expr);
  if (expr->getType().isNull()) return held(builder_.unknown());
  Builder::At here(builder_, position(expr));
  if (auto place = named_place(expr)) return std::move(*place);
  const ValueId result = value_of(expr);
  // A user function that returns a reference gives the address of what it refers to.
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (callee && unit_.is_user_function(callee) && is_rebindable_reference(callee->getReturnType())) {
    return {{0, result, {}}, false, false};
  }
  return held(result);
}

}  // namespace dtype_guard::clang_front_end
