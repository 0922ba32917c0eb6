#include "analyzer/clang/lowering/torch_types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <llvm/Config/llvm-config.h>

#include <optional>
#include <unordered_map>
#include <variant>

#include "rules/operators/dtype_kinds.h"

namespace dtype_guard::clang_front_end {

using clang::QualType;

namespace {

// Every library class whose meaning is known, by plain name. Elements of kOptional, kList and kPointer are
// the first template argument.
const std::unordered_map<std::string, TypeKind>& known_classes() {
  static const std::unordered_map<std::string, TypeKind> kClasses = {
      {"at::Tensor", TypeKind::kTensor},
      {"at::TensorBase", TypeKind::kTensor},
      {"at::OptionalTensorRef", TypeKind::kTensor},
      {"caffe2::TypeMeta", TypeKind::kDtype},
      {"DLDataType", TypeKind::kDtype},
      {"c10::TensorOptions", TypeKind::kOptions},
      {"c10::Scalar", TypeKind::kScalar},
      {"c10::optional", TypeKind::kOptional},
      {"std::optional", TypeKind::kOptional},
      {"c10::OptionalRef", TypeKind::kOptional},
      {"c10::OptionalArrayRef", TypeKind::kOptional},
      {"std::map", TypeKind::kMap},
      {"std::unordered_map", TypeKind::kMap},
      {"std::vector", TypeKind::kList},
      {"std::array", TypeKind::kList},
      {"std::initializer_list", TypeKind::kList},
      {"std::tuple", TypeKind::kList},
      {"std::pair", TypeKind::kList},
      {"std::variant", TypeKind::kList},
      {"std::span", TypeKind::kList},
      {"std::deque", TypeKind::kList},
      {"std::list", TypeKind::kList},
      {"c10::ArrayRef", TypeKind::kList},
      {"c10::List", TypeKind::kList},
      {"c10::SmallVector", TypeKind::kList},
      {"c10::IListRef", TypeKind::kList},
      {"torch::OrderedDict", TypeKind::kList},  // of items
      {"torch::ExpandingArray", TypeKind::kList},
      {"std::shared_ptr", TypeKind::kPointer},
      {"std::unique_ptr", TypeKind::kPointer},
      {"std::weak_ptr", TypeKind::kPointer},
      {"std::reference_wrapper", TypeKind::kPointer},
      {"c10::intrusive_ptr", TypeKind::kPointer},
      {"torch::nn::ModuleHolder", TypeKind::kHolder},
      {"torch::nn::AnyModule", TypeKind::kHolder},  // of a module of any class
      {"std::function", TypeKind::kClosure},
  };
  return kClasses;
}

// ATen's numbers that may be symbols.
const std::unordered_map<std::string, Dtype>& symbolic_numbers() {
  static const std::unordered_map<std::string, Dtype> kNumbers = {
      {"c10::SymFloat", Dtype::kFloat64}, {"c10::SymInt", Dtype::kInt64}, {"c10::SymBool", Dtype::kBool}};
  return kNumbers;
}

const clang::TemplateArgumentList* template_arguments(const clang::CXXRecordDecl& record) {
  const auto* specialization = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  return specialization ? &specialization->getTemplateArgs() : nullptr;
}

QualType type_argument(const clang::CXXRecordDecl& record, unsigned position) {
  const auto* arguments = template_arguments(record);
  if (!arguments || arguments->size() <= position) return {};
  const clang::TemplateArgument& argument = arguments->get(position);
  return argument.getKind() == clang::TemplateArgument::Type ? argument.getAsType() : QualType();
}

QualType first_type_argument(const clang::CXXRecordDecl& record) { return type_argument(record, 0); }

Dtype integer_dtype(std::uint64_t width, bool is_signed) {
  switch (width) {
    case 8:
      return is_signed ? Dtype::kInt8 : Dtype::kUInt8;
    case 16:
      return is_signed ? Dtype::kInt16 : Dtype::kUInt16;
    case 32:
      return is_signed ? Dtype::kInt32 : Dtype::kUInt32;
    default:
      return is_signed ? Dtype::kInt64 : Dtype::kUInt64;
  }
}

Dtype builtin_dtype(const clang::BuiltinType& type, QualType qualified, const TypeScope& scope) {
  switch (type.getKind()) {
    case clang::BuiltinType::Bool:
      return Dtype::kBool;
    case clang::BuiltinType::Half:
    case clang::BuiltinType::Float16:
      return Dtype::kFloat16;
    case clang::BuiltinType::BFloat16:
      return Dtype::kBFloat16;
    case clang::BuiltinType::Float:
      return Dtype::kFloat32;
    case clang::BuiltinType::Double:
    case clang::BuiltinType::LongDouble:
    case clang::BuiltinType::Float128:
      return Dtype::kFloat64;
    default:
      return type.isInteger() ? integer_dtype(scope.ast.getTypeSize(qualified), type.isSignedInteger())
                              : Dtype::kUndefined;
  }
}

// A class or alias that a contract file names as a dtype.
std::optional<Dtype> own_type(const clang::NamedDecl& decl, const TypeScope& scope) {
  const auto named = scope.own_types.find(plain_name(decl));
  return named == scope.own_types.end() ? std::nullopt : std::optional(named->second);
}

// A project's own alias is seen only in the type as written: the canonical type is another library's.
std::optional<Dtype> own_alias(QualType type, const TypeScope& scope) {
  if (scope.own_types.empty()) return std::nullopt;
  for (const auto* alias = type->getAs<clang::TypedefType>(); alias;
       alias = alias->desugar()->getAs<clang::TypedefType>()) {
    if (const auto dtype = own_type(*alias->getDecl(), scope)) return dtype;
  }
  return std::nullopt;
}

// c10::Half, __nv_bfloat16 and a project's own half type alike: the spelling is in the dtype table and the
// size fits.
std::optional<Dtype> half_class(const clang::CXXRecordDecl& record, QualType type, const TypeScope& scope) {
  if (const auto own = own_type(record, scope)) return own;
  if (!record.isCompleteDefinition() || record.isDependentType()) return std::nullopt;
  std::optional<Dtype> dtype = parse_dtype(plain_name(record));
  if (!dtype) dtype = parse_dtype(record.getName().str());
  if (!dtype || scope.ast.getTypeSize(type) != bits(*dtype)) return std::nullopt;
  return dtype;
}

// std::complex<float> is a number as c10::complex<float> is.
std::optional<Dtype> complex_class(const std::string& name, QualType element, const TypeScope& scope) {
  if ((name != "c10::complex" && name != "std::complex") || element.isNull()) return std::nullopt;
  const PromotionResult dtype = complex_of(classify(element, scope).element);
  const Dtype* known = std::get_if<Dtype>(&dtype);
  return known ? std::optional(*known) : std::nullopt;
}

TypeFacts of_elements(TypeKind kind, QualType element, const TypeScope& scope) {
  TypeFacts facts{kind, Dtype::kUndefined, element, nullptr};
  if (kind != TypeKind::kList || element.isNull()) return facts;
  const TypeFacts inner = classify(element, scope);
  // Runs of integers are shapes and indices; runs of floating numbers are data.
  if (inner.kind == TypeKind::kNumber && is_floating(inner.element)) {
    facts.kind = TypeKind::kBuffer;
    facts.element = inner.element;
  }
  return facts;
}

TypeFacts classify_record(const clang::CXXRecordDecl& record, QualType type, const TypeScope& scope) {
  const std::string name = plain_name(record);
  TypeFacts facts;
  if (const auto known = known_classes().find(name); known != known_classes().end()) {
    facts = of_elements(known->second, first_type_argument(record), scope);
    if (name == "std::unique_ptr" || name == "std::shared_ptr") {
      const QualType held = first_type_argument(record);
      const auto* array = held.isNull() ? nullptr : scope.ast.getAsArrayType(held);
      const TypeFacts owned = classify(array ? array->getElementType() : held, scope);
      if (owned.kind == TypeKind::kNumber && is_floating(owned.element)) {
        facts.kind = TypeKind::kBuffer;
        facts.element = owned.element;
      }
    }
    if (name == "std::tuple" || name == "std::pair" || name == "std::variant" || name == "torch::OrderedDict")
      facts = {TypeKind::kList, Dtype::kUndefined, {}, nullptr};
    if (known->second == TypeKind::kMap) {
      const TypeKind mapped = classify(type_argument(record, 1), scope).kind;
      const bool typed = mapped == TypeKind::kTensor || mapped == TypeKind::kDtype ||
                         mapped == TypeKind::kOptions || mapped == TypeKind::kList ||
                         mapped == TypeKind::kOptional;
      facts = {typed ? TypeKind::kMap : TypeKind::kObject, Dtype::kUndefined, {}, nullptr};
    }
  } else if (const auto symbolic = symbolic_numbers().find(name); symbolic != symbolic_numbers().end()) {
    facts = {TypeKind::kNumber, symbolic->second, {}, nullptr};
  } else if (name == "__gnu_cxx::__normal_iterator" || name == "std::__wrap_iter") {
    facts = classify(first_type_argument(record), scope);  // a vector's iterator is a pointer into it
  } else if (record.isLambda()) {
    facts.kind = TypeKind::kClosure;
  } else if (const auto half = half_class(record, type, scope)) {
    facts = {TypeKind::kNumber, *half, {}, nullptr};
  } else if (const auto complex = complex_class(name, first_type_argument(record), scope)) {
    facts = {TypeKind::kNumber, *complex, {}, nullptr};
  } else if (name.starts_with("torch::nn::") && name.ends_with("Options")) {
    facts.kind = TypeKind::kOptionsBag;
  } else if (record.hasDefinition() && derives_from(record, "torch::nn::ModuleHolder")) {
    for (const clang::CXXBaseSpecifier& base : record.bases()) {
      const TypeFacts holder = classify(base.getType(), scope);
      if (holder.kind == TypeKind::kHolder) facts = holder;
    }
  } else if (name.starts_with("torch::nn::") && derives_from(record, "torch::nn::Module")) {
    facts.kind = TypeKind::kLibraryModule;
  } else {
    facts.kind = TypeKind::kObject;
  }
  facts.record = record.getDefinition() ? record.getDefinition() : &record;
  return facts;
}

constexpr const char* kTensorByPointer = "ggml_tensor";

TypeFacts classify_pointee(QualType pointee, const TypeScope& scope) {
  const clang::CXXRecordDecl* record = pointee->getAsCXXRecordDecl();
  if (record && plain_name(*record) == kTensorByPointer)
    return {TypeKind::kTensor, Dtype::kUndefined, {}, record};
  const TypeFacts target = classify(pointee, scope);
  const bool data = target.kind == TypeKind::kNumber && is_floating(target.element);
  if (data) return {TypeKind::kBuffer, target.element, pointee, nullptr};
  if (target.kind == TypeKind::kBuffer) return target;  // rows of a two-dimensional array
  return {TypeKind::kPointer, Dtype::kUndefined, pointee, nullptr};
}

bool is_scalar_type(const clang::EnumDecl& decl) { return plain_name(decl) == "c10::ScalarType"; }

// An enumeration of a project's own, some of whose enumerators its contract file calls dtypes.
bool lists_dtypes(const clang::EnumDecl& decl, const TypeScope& scope) {
  const clang::EnumDecl* definition = decl.getDefinition();
  if (!definition || scope.own_types.empty()) return false;
  const auto [known, is_new] = scope.dtype_enumerations.try_emplace(definition, false);
  if (is_new) {
    known->second = std::any_of(definition->enumerator_begin(), definition->enumerator_end(),
                                [&](const auto* each) { return own_type(*each, scope).has_value(); });
  }
  return known->second;
}

}  // namespace

bool is_tensor_by_pointer(const TypeFacts& type) {
  return type.kind == TypeKind::kTensor && type.record && plain_name(*type.record) == kTensorByPointer;
}

bool is_text(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  const llvm::StringRef name = record && record->getIdentifier() ? record->getName() : llvm::StringRef();
  return name == "basic_string" || name == "basic_string_view";
}

bool is_changing_text(clang::QualType type) {
  return is_text(type) && !type.getNonReferenceType().isConstQualified();
}

std::optional<Dtype> enumerated_dtype(QualType type, std::int64_t number, const TypeScope& scope) {
  const auto* enumeration = type->getAs<clang::EnumType>();
  const clang::EnumDecl* definition = enumeration ? enumeration->getDecl()->getDefinition() : nullptr;
  if (!definition) return std::nullopt;
  if (is_scalar_type(*definition)) {
    const bool is_one = number >= 0 && number < static_cast<std::int64_t>(kDtypeCount);
    return is_one ? std::optional(static_cast<Dtype>(number)) : std::nullopt;
  }
  for (const clang::EnumConstantDecl* each : definition->enumerators()) {
    if (each->getInitVal().getExtValue() != number) continue;
    if (const auto dtype = own_type(*each, scope)) return dtype;
  }
  return std::nullopt;
}

std::string plain_name(const clang::NamedDecl& decl) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  clang::PrintingPolicy policy(decl.getASTContext().getLangOpts());
#if LLVM_VERSION_MAJOR >= 20
  policy.SuppressInlineNamespace =
      llvm::to_underlying(clang::PrintingPolicy::SuppressInlineNamespaceMode::All);
#else
  policy.SuppressInlineNamespace = true;
#endif
  policy.SuppressUnwrittenScope = true;
  decl.printNestedNameSpecifier(stream, policy);
  const auto* tag = llvm::dyn_cast<clang::TagDecl>(&decl);
  const clang::TypedefNameDecl* alias =
      tag ? tag->getTypedefNameForAnonDecl() : nullptr;  // typedef struct {...} X
  (alias ? alias->getDeclName() : decl.getDeclName()).print(stream, policy);
  return name;
}

std::string without_symint(std::string name) {
  constexpr std::string_view kSuffix = "_symint";
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

bool derives_from(const clang::CXXRecordDecl& record, std::string_view name) {
  if (plain_name(record) == name) return true;
  const clang::CXXRecordDecl* definition = record.getDefinition();
  if (!definition) return false;
  for (const clang::CXXBaseSpecifier& base : definition->bases()) {
    const clang::CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl();
    if (parent && derives_from(*parent, name)) return true;
  }
  return false;
}

TypeFacts classify(QualType type, const TypeScope& scope) {
  if (type.isNull()) return {};
  type = type.getNonReferenceType();
  if (type->isDependentType()) return {};
  if (const auto own = own_alias(type, scope)) return {TypeKind::kNumber, *own, {}, nullptr};
  if (const auto* pointer = type->getAs<clang::PointerType>()) {
    return classify_pointee(pointer->getPointeeType(), scope);
  }
  type = type.getCanonicalType().getUnqualifiedType();
  if (type->isVoidType()) return {TypeKind::kVoid, Dtype::kUndefined, {}, nullptr};
  if (const auto* builtin = type->getAs<clang::BuiltinType>()) {
    const Dtype dtype = builtin_dtype(*builtin, type, scope);
    if (dtype == Dtype::kUndefined) return {};
    return {TypeKind::kNumber, dtype, {}, nullptr};
  }
  if (const auto* enumeration = type->getAs<clang::EnumType>()) {
    if (is_scalar_type(*enumeration->getDecl())) return {TypeKind::kDtype, Dtype::kUndefined, {}, nullptr};
    if (lists_dtypes(*enumeration->getDecl(), scope))
      return {TypeKind::kDtype, Dtype::kUndefined, type, nullptr};
    return {TypeKind::kNumber, Dtype::kInt64, {}, nullptr};
  }
  if (const auto* array = scope.ast.getAsArrayType(type)) {
    return of_elements(TypeKind::kList, array->getElementType(), scope);
  }
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    return classify_record(*record, type, scope);
  }
  return {};
}

}  // namespace dtype_guard::clang_front_end
