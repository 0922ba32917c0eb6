// Strings: what std::string, std::string_view and C strings hold, as long as nothing but assignment changes
// it. And what a library function may have written through a reference.
#include <algorithm>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

bool is_c_string(clang::QualType type) {
  type = type.getNonReferenceType();
  const auto* array = type->getAsArrayTypeUnsafe();
  const clang::QualType element = array ? array->getElementType() : type->getPointeeType();
  return !element.isNull() && element->isCharType();
}

bool is_any_text(const Expr* expr) {
  const clang::QualType type = stripped(expr)->getType();
  return is_text(type) || is_c_string(type);
}

// `T&&` that takes whatever it is given, most often to hand it on or to print it.
bool is_forwarding(const clang::FunctionDecl* callee, unsigned position) {
  const clang::FunctionTemplateDecl* pattern = callee->getPrimaryTemplate();
  const clang::FunctionDecl* written = pattern ? pattern->getTemplatedDecl() : nullptr;
  if (!written || written->getNumParams() == 0) return false;
  clang::QualType type = written->getParamDecl(std::min(position, written->getNumParams() - 1))->getType();
  if (const auto* pack = type->getAs<clang::PackExpansionType>()) type = pack->getPattern();
  return type->isRValueReferenceType();
}

}  // namespace

// Of a constructor's arguments; nothing where they are more than a text.
std::optional<ValueId> FunctionLowering::made_text(llvm::ArrayRef<const Expr*> arguments) {
  if (arguments.empty()) return builder_.constant(std::string());
  if (arguments.size() != 1 || !is_any_text(arguments[0])) return std::nullopt;
  return value(arguments[0]);
}

// What is assigned to a string may be a character, or a list of them.
ValueId FunctionLowering::assigned_text(const Expr* source) {
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(source));
  if (made && made->getNumArgs() == 0) return builder_.constant(std::string());  // {}, an empty list
  const ValueId given = value(source);
  return is_any_text(source) ? given : builder_.unknown();
}

ValueId FunctionLowering::compared_texts(ValueId left, ValueId right) {
  return builder_.op(std::string(kTextOrder), {{"self", left}, {"other", right}});
}

std::optional<ValueId> FunctionLowering::text_function(const std::string& name,
                                                       llvm::ArrayRef<const Expr*> arguments) {
  const bool compares = name == "strcmp" || name == "std::strcmp" || name == "__builtin_strcmp";
  if (!compares || arguments.size() != 2) return std::nullopt;
  const ValueId left = value(arguments[0]);
  return compared_texts(left, value(arguments[1]));
}

std::optional<ValueId> FunctionLowering::text_member(const Expr* object, const clang::CXXMethodDecl* method,
                                                     llvm::ArrayRef<const Expr*> arguments) {
  const bool by_pointer = object->getType()->isPointerType();
  if (!is_text(by_pointer ? object->getType()->getPointeeType() : object->getType())) return std::nullopt;
  const Lvalue place = by_pointer ? Lvalue{{0, value(object), {}}, false, false} : lvalue(object);
  if (llvm::isa<clang::CXXConversionDecl>(method)) return load(place);
  const llvm::StringRef name = method->getIdentifier() ? method->getName() : llvm::StringRef();
  if (name == "empty")
    return builder_.op("eq", {{"self", load(place)}, {"other", builder_.constant(std::string())}});
  // Beside empty() it asks of the same.
  if (name == "size" || name == "length")
    return builder_.op(std::string(kTextLength), {{"self", load(place)}});
  if (name == "compare" && arguments.size() == 1 && is_any_text(arguments[0])) {
    const ValueId self = load(place);
    return compared_texts(self, value(arguments[0]));
  }
  if (name == "assign" && arguments.size() == 1) {
    const ValueId assigned = assigned_text(arguments[0]);
    assign(place, assigned);
    return assigned;
  }
  const ValueId before = load(place);
  if (method->isConst() && (name == "c_str" || name == "data")) return before;
  if (method->isConst()) return std::nullopt;
  // The contents may be written through what it gives: an iterator, a reference to a character.
  for (const Expr* each : arguments) value(each);
  assign(place, builder_.unknown());
  return name == "data" ? before : builder_.unknown();
}

// Of texts and numbers; a function of the project says itself what it writes.
void FunctionLowering::lose_written(const clang::FunctionDecl* callee,
                                    llvm::ArrayRef<const Expr*> arguments) {
  const unsigned count = std::min<unsigned>(callee->getNumParams(), static_cast<unsigned>(arguments.size()));
  for (unsigned i = 0; i < count; ++i) {
    const clang::QualType type = callee->getParamDecl(i)->getType();
    if (!is_rebindable_reference(type) || is_forwarding(callee, i)) continue;
    const TypeFacts written = facts(type);
    const bool is_number = written.kind == TypeKind::kNumber && !written.record;
    if (!is_number && !is_text(type)) continue;
    const Lvalue place = lvalue(arguments[i]);
    if (place.is_element || place.is_value) continue;
    assign(place, is_number ? number(written.element) : builder_.unknown());
  }
}

// `text += x`, `in >> text`, `text[0]`: of an operator of the library.
void FunctionLowering::lose_operand(const clang::CXXOperatorCallExpr* expr) {
  const clang::FunctionDecl* callee = expr->getDirectCallee();
  if (!callee) return;
  const llvm::ArrayRef<const Expr*> operands(expr->getArgs(), expr->getNumArgs());
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  if (!method) return lose_written(callee, operands);
  if (!method->isConst() && is_text(operands[0]->getType())) assign(lvalue(operands[0]), builder_.unknown());
  lose_written(callee, operands.drop_front());
}

}  // namespace dtype_guard::clang_front_end
