#include "analyzer/clang/lowering/function_lowering.h"

#include <algorithm>
#include <vector>

namespace dtype_guard::clang_front_end {

using namespace flow;

FunctionLowering::FunctionLowering(TranslationUnit& unit, const clang::FunctionDecl* function)
    : unit_(unit), function_(function), builder_(result_), bound_(bound_expressions(function)) {}

namespace {

FunctionKind kind_of(const clang::FunctionDecl* function) {
  if (llvm::isa<clang::CXXConstructorDecl>(function)) return FunctionKind::kConstructor;
  if (llvm::isa<clang::CXXDestructorDecl>(function)) return FunctionKind::kDestructor;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (!method) return FunctionKind::kFunction;
  if (method->getParent()->isLambda()) return FunctionKind::kLambda;
  return method->isInstance() ? FunctionKind::kMethod : FunctionKind::kFunction;
}

// A pair or tuple of nothing but tensors, some of which may be absent: past keys and values.
bool is_tuple_of_tensors(clang::QualType type, const TypeScope& scope) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const auto* tuple = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (!tuple) return false;
  if (const std::string name = plain_name(*tuple); name != "std::tuple" && name != "std::pair") return false;
  std::vector<clang::QualType> elements;
  for (const clang::TemplateArgument& each : tuple->getTemplateArgs().asArray()) {
    if (each.getKind() == clang::TemplateArgument::Type) elements.push_back(each.getAsType());
    if (each.getKind() != clang::TemplateArgument::Pack) continue;
    for (const clang::TemplateArgument& one : each.pack_elements()) {
      if (one.getKind() == clang::TemplateArgument::Type) elements.push_back(one.getAsType());
    }
  }
  return !elements.empty() && std::all_of(elements.begin(), elements.end(), [&](clang::QualType each) {
    const TypeFacts facts = classify(each, scope);
    return facts.kind == TypeKind::kTensor && !is_tensor_by_pointer(facts);
  });
}

ParameterKind parameter_kind(const TypeFacts& type, const TypeScope& scope) {
  switch (type.kind) {
    case TypeKind::kTensor:
      return is_tensor_by_pointer(type) ? ParameterKind::kOther : ParameterKind::kTensor;
    case TypeKind::kBuffer:
      return ParameterKind::kTensor;
    case TypeKind::kDtype:  // what a raw interface is given is no precision setting's to say
      return type.inner.isNull() ? ParameterKind::kDtype : ParameterKind::kOther;
    case TypeKind::kOptions:
      return ParameterKind::kOptions;
    case TypeKind::kNumber:
    case TypeKind::kScalar:
      return ParameterKind::kNumber;
    case TypeKind::kObject:
    case TypeKind::kHolder:
    case TypeKind::kLibraryModule:
      return ParameterKind::kObject;
    case TypeKind::kOptional:
    case TypeKind::kList:
    case TypeKind::kPointer: {
      const ParameterKind inner = parameter_kind(classify(type.inner, scope), scope);
      if (inner == ParameterKind::kTensor) {
        if (type.kind == TypeKind::kOptional) return ParameterKind::kOptionalTensor;
        return type.kind == TypeKind::kList ? ParameterKind::kTensorList : ParameterKind::kTensor;
      }
      if (type.kind == TypeKind::kPointer && inner == ParameterKind::kObject) return inner;
      return ParameterKind::kOther;
    }
    default:
      return ParameterKind::kOther;
  }
}

}  // namespace

TypeFacts FunctionLowering::facts(clang::QualType type) const {
  TypeFacts known = classify(type, unit_.types());
  // Where torch::nn is the project its option structs are read: what they leave open may be a dtype.
  if (known.kind == TypeKind::kOptionsBag && unit_.is_user_code(known.record->getLocation()))
    known.kind = TypeKind::kObject;
  return known;
}

TypeFacts FunctionLowering::facts(const clang::Expr* expr) const { return facts(stripped(expr)->getType()); }

flow::Parameter FunctionLowering::describe(const clang::ValueDecl* decl) const {
  TypeFacts type = facts(decl->getType());
  flow::Parameter parameter;
  parameter.name = decl->getNameAsString();
  parameter.kind = parameter_kind(type, unit_.types());
  // `const Tensor& mask = {}` is absent where the call gives none.
  const auto* given = llvm::dyn_cast<clang::ParmVarDecl>(decl);
  const bool optional = type.kind == TypeKind::kOptional;
  if (given && is_tuple_of_tensors(optional ? type.inner : decl->getType(), unit_.types())) {
    parameter.kind = ParameterKind::kTensorList;
    if (optional) parameter.default_value = None{};
  }
  if (parameter.kind == ParameterKind::kTensor && type.kind == TypeKind::kTensor && given &&
      given->hasDefaultArg()) {
    parameter.kind = ParameterKind::kOptionalTensor;
  }
  parameter.by_reference = is_rebindable_reference(decl->getType());
  if (type.kind == TypeKind::kPointer || type.kind == TypeKind::kHolder) {
    const TypeFacts inner = facts(type.inner);
    if (type.kind == TypeKind::kPointer && inner.kind == TypeKind::kTensor) parameter.by_reference = true;
    if (inner.record) type = inner;
  }
  if (type.element != Dtype::kUndefined) parameter.type = name(type.element);
  // Numbers are told apart by category, in C++'s words.
  if (type.element == Dtype::kFloat32 && parameter.kind == ParameterKind::kNumber) parameter.type = "float";
  if (type.element == Dtype::kFloat64 && parameter.kind == ParameterKind::kNumber) parameter.type = "double";
  if (parameter.kind == ParameterKind::kObject && type.record) {
    parameter.type = plain_name(*type.record);
    note_class(type.record);
  }
  return parameter;
}

Builder::Position FunctionLowering::position(const Expr* expr) const {
  Builder::Position out = unit_.position(expr->getSourceRange());
  const bool tensor = !expr->getType().isNull() && expr->getType()->isRecordType() &&
                      facts(expr->getType()).kind == TypeKind::kTensor;
  if (tensor && out.written == flow::Written::kOther) {
    out.written = bound_.contains(expr) ? flow::Written::kBound : flow::Written::kTensor;
  }
  return out;
}

// What the engine looks up in the class that the object turns out to be; the key is the function's own body.
std::string FunctionLowering::virtual_key(const clang::FunctionDecl* callee) const {
  return std::string(flow::kVirtualCall) + callee->getNameAsString() + "::" + unit_.key(callee);
}

bool FunctionLowering::is_dispatched(const clang::FunctionDecl* callee) const {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  return method && method->isVirtual() && method->getIdentifier() &&
         (method->isPureVirtual() || unit_.is_overridden(method));
}

bool FunctionLowering::makes_held(const clang::FunctionDecl* function) const {
  const auto* constructor = llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(function);
  return constructor && constructor->isUserProvided() && !constructor->isInheritingConstructor() &&
         derives_from(*constructor->getParent(), "torch::nn::ModuleHolder");
}

void FunctionLowering::give_held(const clang::CXXConstructorDecl* constructor) {
  for (const clang::CXXCtorInitializer* each : constructor->inits()) {
    const auto* base = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(each->getInit()));
    if (!each->isBaseInitializer() || !base || base->getNumArgs() == 0) continue;
    builder_.give_back(base->getNumArgs() == 1 ? value(base->getArg(0)) : construct(base));
    return;
  }
  builder_.give_back(builder_.unknown());
}

namespace {
// A private method of a class without friends has no callers outside the class.
bool is_for_its_class_only(const clang::FunctionDecl& function) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  return method && method->getAccess() == clang::AS_private && !method->isVirtual() &&
         !method->getParent()->hasFriends();
}
}  // namespace

flow::Function FunctionLowering::run() {
  result_.key = unit_.key(function_);
  result_.name = unit_.display_name(function_);
  result_.kind = kind_of(function_);
  result_.external = function_->getFormalLinkage() == clang::Linkage::External;
  result_.is_main = function_->isMain();
  result_.foreign = !unit_.is_user_code(function_->getLocation());
  result_.range = unit_.range(function_->getNameInfo().getSourceRange());
  // An instantiation is made for a caller in this file.
  const bool instantiated = function_->getTemplateSpecializationKind() == clang::TSK_ImplicitInstantiation;
  if (result_.kind == FunctionKind::kLambda || instantiated || is_for_its_class_only(*function_))
    result_.external = false;
  if (makes_held(function_)) {
    result_.kind = FunctionKind::kFunction;
    prologue();
    give_held(llvm::cast<clang::CXXConstructorDecl>(function_));
    builder_.finish();
    return std::move(result_);
  }
  prologue();
  open_scope();
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function_)) {
    if (constructor->hasBody()) {
      member_initialisers(constructor);
    } else {
      default_initialisers(constructor->getParent());
    }
  }
  statement(function_->getBody());
  close_scope();
  if (const auto* destructor = llvm::dyn_cast<clang::CXXDestructorDecl>(function_)) {
    member_destructors(destructor);
  }
  builder_.finish();
  return std::move(result_);
}

void FunctionLowering::prologue() {
  int index = 0;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function_);
  Builder::At here(builder_, unit_.position(function_->getNameInfo().getSourceRange()));
  if (method && method->isInstance() && !makes_held(method)) {
    this_ = builder_.parameter(index++);
    const clang::CXXRecordDecl* parent = method->getParent();
    if (parent->isLambda()) {
      for (const clang::LambdaCapture& capture : parent->captures()) {
        if (!capture.capturesVariable()) continue;
        const clang::ValueDecl* variable = capture.getCapturedVar();
        captures_[variable] = {variable->getNameAsString(), capture.getCaptureKind() == clang::LCK_ByRef};
      }
    } else {
      result_.class_name = plain_name(*parent);
      note_class(parent);
      result_.of_module = derives_from(*parent, "torch::nn::Module");
    }
  }
  for (const clang::ParmVarDecl* decl : function_->parameters()) {
    result_.parameters.push_back(describe(decl));
    parameter(decl, index++);
  }
}

void FunctionLowering::parameter(const clang::ParmVarDecl* decl, int index) {
  const clang::QualType type = decl->getType();
  Builder::Position at = unit_.position(clang::SourceRange(decl->getLocation()));
  const bool tensor = facts(type.getNonReferenceType()).kind == TypeKind::kTensor;
  if (tensor && at.written == flow::Written::kOther) at.written = flow::Written::kTensor;
  Builder::At here(builder_, std::move(at));
  const ValueId argument = builder_.parameter(index);
  if (is_rebindable_reference(type)) {
    addresses_[decl] = argument;
  } else if (type->isLValueReferenceType() || type.isConstQualified()) {
    fixed_[decl] = argument;
  } else {
    const VariableId variable = builder_.variable(decl->getNameAsString());
    variables_[decl] = variable;
    builder_.store({variable, 0, {}}, argument);
  }
}

// In a lambda within a method the enclosing object is the capture named "this".
ValueId FunctionLowering::this_value() {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function_);
  if (!method || !method->getParent()->isLambda()) return this_;
  return load(field(held(this_), "this"));
}

void FunctionLowering::member_initialisers(const clang::CXXConstructorDecl* constructor) {
  for (const clang::CXXCtorInitializer* each : constructor->inits()) {
    const clang::Expr* init = each->getInit();
    Builder::At here(builder_, position(stripped(init)));
    if (each->isMemberInitializer()) {
      const clang::FieldDecl* member = each->getMember();
      const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(init));
      const bool is_default = construct && construct->getNumArgs() == 0 && !each->isWritten();
      if (is_default && facts(member->getType()).kind == TypeKind::kOther) continue;
      const ValueId initial = pass(init, member->getType());
      builder_.store(field(held(this_), member->getNameAsString()).place, initial);
      continue;
    }
    const auto* base = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(init));
    if (!base) continue;
    // A base or delegated constructor works on the same object.
    const clang::FunctionDecl* callee = unit_.user_definition(base->getConstructor());
    if (!callee) continue;
    user_call(callee, this_, llvm::ArrayRef<const clang::Expr*>(base->getArgs(), base->getNumArgs()));
  }
}

void FunctionLowering::member_destructors(const clang::CXXDestructorDecl* destructor) {
  std::vector<const clang::FieldDecl*> members(destructor->getParent()->field_begin(),
                                               destructor->getParent()->field_end());
  for (auto each = members.rbegin(); each != members.rend(); ++each) {
    const clang::CXXRecordDecl* record = (*each)->getType()->getAsCXXRecordDecl();
    const clang::FunctionDecl* callee = record ? unit_.user_definition(record->getDestructor()) : nullptr;
    if (!callee || !callee->isUserProvided()) continue;
    user_call(callee, load(field(held(this_), (*each)->getNameAsString())), {});
  }
}

}  // namespace dtype_guard::clang_front_end
