// What a C++ type means to dtype flow: a tensor, a dtype, options, a number, a container, a module, an
// object. Types are matched by qualified name after desugaring, so that torch::Tensor, at::Tensor and a
// typedef of either are one, and std::optional and c10::optional are one.
#pragma once

#include <clang/AST/Type.h>

#include <functional>
#include <map>
#include <string>

#include "rules/dtype/dtype.h"

namespace clang {
class ASTContext;
class CXXRecordDecl;
}  // namespace clang

namespace dtype_guard::clang_front_end {

enum class TypeKind : std::uint8_t {
  kOther,
  kVoid,
  kNumber,         // arithmetic, enumerations, half types in any spelling; element is its dtype
  kTensor,         // at::Tensor and its base; a pointer to a tensor of another library, with its record
  kDtype,          // ScalarType, TypeMeta, DLDataType
  kOptions,        // TensorOptions
  kScalar,         // c10::Scalar: a number that forgets its C++ type
  kOptional,       // inner: what may be absent
  kList,           // vector, array, ArrayRef, tuple, pair, variant; inner: the element when there is one
  kMap,            // map, unordered_map of tensors or dtypes, or of lists and optionals of them
  kBuffer,         // a run of floating numbers: vector<float>, float*, float[8]; element is their dtype
  kHolder,         // ModuleHolder<Impl>; inner: Impl
  kPointer,        // raw or smart pointer to something that is not a number; inner: the pointee
  kLibraryModule,  // a torch::nn module whose body is not user code
  kClosure,        // lambda, std::function
  kObject,         // any other class with fields
  kOptionsBag,     // torch::nn's option structs: no bearing on dtypes
};

struct TypeFacts {
  TypeKind kind = TypeKind::kOther;
  Dtype element = Dtype::kUndefined;
  clang::QualType inner;  // of a dtype: the project's own enumeration
  const clang::CXXRecordDecl* record = nullptr;
};

// What classify looks at: the AST and a project's own names of dtypes, as contract files give them.
struct TypeScope {
  const clang::ASTContext& ast;
  const std::map<std::string, Dtype, std::less<>>& own_types;
  std::map<const clang::EnumDecl*, bool>&
      dtype_enumerations;  // of those looked at, which have dtypes among own_types
};

TypeFacts classify(clang::QualType type, const TypeScope& scope);
// A tensor of a library whose tensors are handed around by pointer, ggml's: no precision setting tells what
// it holds.
bool is_tensor_by_pointer(const TypeFacts& type);
// What a value of an enumeration of dtypes, ScalarType or a project's own, stands for.
std::optional<Dtype> enumerated_dtype(clang::QualType type, std::int64_t number, const TypeScope& scope);

// std::string and the views of one.
bool is_text(clang::QualType type);
bool is_changing_text(clang::QualType type);  // and not const

// "at::Tensor" for a class or specialisation, without template arguments and inline namespaces.
std::string plain_name(const clang::NamedDecl& decl);
// `at::pad` for `at::pad_symint`: ATen's twin whose sizes may be symbolic is the same operator.
std::string without_symint(std::string name);
// True when `record` is the class of that name or derives from it.
bool derives_from(const clang::CXXRecordDecl& record, std::string_view name);

}  // namespace dtype_guard::clang_front_end
