// std::variant: a list with a cell for each of its types, of which the one that it holds is there. And
// elements that std::get names by their type.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

const clang::CXXRecordDecl* record_of(clang::QualType type) {
  return type.getNonReferenceType()->getAsCXXRecordDecl();
}

// The types of a variant's, tuple's or pair's elements.
std::vector<clang::QualType> element_types(clang::QualType type) {
  const auto* made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(type));
  std::vector<clang::QualType> out;
  if (!made) return out;
  const auto add = [&](const clang::TemplateArgument& each) {
    if (each.getKind() == clang::TemplateArgument::Type) out.push_back(each.getAsType());
  };
  for (const clang::TemplateArgument& each : made->getTemplateArgs().asArray()) {
    if (each.getKind() != clang::TemplateArgument::Pack) {
      add(each);
    } else {
      for (const clang::TemplateArgument& one : each.pack_elements()) add(one);
    }
  }
  return out;
}

bool is_same(clang::QualType a, clang::QualType b) {
  const auto plain = [](clang::QualType type) {
    return type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  };
  return plain(a) == plain(b);
}

// Where the type is one of them, and only once.
std::optional<std::int64_t> place_of(clang::QualType type, const std::vector<clang::QualType>& among) {
  const auto same = [&](clang::QualType each) { return is_same(each, type); };
  if (std::count_if(among.begin(), among.end(), same) != 1) return std::nullopt;
  return std::find_if(among.begin(), among.end(), same) - among.begin();
}

bool is_variant(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return record && plain_name(*record) == "std::variant";
}

}  // namespace

std::optional<std::int64_t> FunctionLowering::named_element(const clang::FunctionDecl* callee,
                                                            clang::QualType container) {
  const auto* chosen = callee ? callee->getTemplateSpecializationArgs() : nullptr;
  if (!chosen || chosen->size() == 0) return std::nullopt;
  const clang::TemplateArgument& first = chosen->get(0);
  if (first.getKind() == clang::TemplateArgument::Integral) return first.getAsIntegral().getExtValue();
  if (first.getKind() != clang::TemplateArgument::Type) return std::nullopt;
  return place_of(first.getAsType(), element_types(container));
}

// What converts to one of the types on the way is held as none that is known.
std::optional<flow::ValueId> FunctionLowering::as_variant(clang::QualType type, const Expr* source) {
  if (!is_variant(type) || is_variant(source->getType())) return std::nullopt;
  const auto place = place_of(stripped(source)->getType(), element_types(type));
  const ValueId held_there = copied(source);
  if (!place) return builder_.unknown();
  const ValueId made = builder_.value(Op::kPack, "", {});
  builder_.store(cell(held(made), place, type).place, held_there);
  return made;
}

std::optional<flow::ValueId> FunctionLowering::variant_function(llvm::StringRef name,
                                                                const clang::FunctionDecl* callee,
                                                                llvm::ArrayRef<const Expr*> arguments) {
  const bool by_address = name == "get_if";
  if ((!by_address && name != "holds_alternative") || arguments.size() != 1) return std::nullopt;
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(stripped(arguments[0]));
  if (by_address && (!address || address->getOpcode() != clang::UO_AddrOf)) return std::nullopt;
  const Expr* variant = by_address ? address->getSubExpr() : arguments[0];
  const auto place =
      is_variant(variant->getType()) ? named_element(callee, variant->getType()) : std::nullopt;
  if (!place) return std::nullopt;
  const Lvalue element = cell(lvalue(variant), place, variant->getType());
  return by_address ? builder_.address(element.place) : builder_.op("defined", {{"self", load(element)}});
}

}  // namespace dtype_guard::clang_front_end
