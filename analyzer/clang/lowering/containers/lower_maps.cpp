// Maps of tensors: an element with a constant key is a cell of its own, any other may be each of them.
#include <llvm/Support/xxhash.h>

#include <string>
#include <unordered_set>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

constexpr int kMaxConstants = 8;  // one defined by the other

// The text of a literal, of a string made of one, or of a constant that is one.
std::optional<llvm::StringRef> text_of(const Expr* expr, int depth = 0) {
  expr = stripped(expr);
  if (!expr || depth > kMaxConstants) return std::nullopt;
  if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(expr)) {
    return literal->getCharByteWidth() == 1 ? std::optional(literal->getString()) : std::nullopt;
  }
  if (const auto* own = llvm::dyn_cast<clang::UserDefinedLiteral>(expr)) {  // "q"s
    return own->getNumArgs() > 0 ? text_of(own->getArg(0), depth + 1) : std::nullopt;
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr)) {
    const bool from_text = made->getNumArgs() > 0 &&
                           (made->getNumArgs() == 1 || llvm::isa<clang::CXXDefaultArgExpr>(made->getArg(1)));
    return from_text ? text_of(made->getArg(0), depth + 1) : std::nullopt;
  }
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  const bool constant = variable && variable->getType().isConstQualified() && variable->getAnyInitializer();
  return constant ? text_of(variable->getAnyInitializer(), depth + 1) : std::nullopt;
}

// An iterator may become a const_iterator on the way.
const Expr* unconverted(const Expr* expr) {
  expr = stripped(expr);
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
  return made && made->getNumArgs() == 1 ? stripped(made->getArg(0)) : expr;
}

bool is_end(const Expr* expr) {
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(unconverted(expr));
  const clang::CXXMethodDecl* method = call ? call->getMethodDecl() : nullptr;
  return method && method->getIdentifier() && (method->getName() == "end" || method->getName() == "cend");
}

}  // namespace

std::optional<std::int64_t> FunctionLowering::key_of(const Expr* expr) const {
  if (const auto number = integer(expr)) return number;
  const auto text = text_of(expr);
  if (!text) return std::nullopt;
  constexpr std::uint64_t kPositive = INT64_MAX;
  return static_cast<std::int64_t>(llvm::xxh3_64bits(*text) & kPositive);
}

FunctionLowering::Lvalue FunctionLowering::map_element(const Expr* map, const Expr* key) {
  const auto constant = key ? key_of(key) : std::nullopt;
  if (key && !constant) value(key);
  return cell(lvalue(map), constant, map->getType());
}

// A write to an element whose key is not known may have written to any.
void FunctionLowering::lose_elements(const Expr* map) {
  const Lvalue any = map_element(map, nullptr);
  if (!any.is_value) builder_.store(any.place, builder_.unknown());
}

std::optional<flow::ValueId> FunctionLowering::map_member(const clang::CXXMethodDecl* method,
                                                          const Expr* object,
                                                          llvm::ArrayRef<const Expr*> arguments) {
  const std::string name = method->getIdentifier() ? method->getName().str() : "";
  const bool keyed = name == "emplace" || name == "try_emplace" || name == "insert_or_assign";
  if (keyed && arguments.size() == 2) {
    const ValueId added = value(arguments[1]);
    assign(map_element(object, arguments[0]), added);
    return builder_.unknown();
  }
  if (name == "clear" && !lvalue(object).is_value) {
    builder_.store(lvalue(object).place, builder_.value(Op::kPack, "", {}));
    return ValueId{0};
  }
  if (name == "find" && arguments.size() == 1)
    return builder_.address(map_element(object, arguments[0]).place);
  if (name == "erase" && arguments.size() == 1) {
    const bool by_iterator = is_map_iterator(arguments[0]->getType());
    assign(by_iterator ? pointed_at(arguments[0]) : map_element(object, arguments[0]), builder_.unknown());
    return builder_.unknown();
  }
  for (const Expr* each : arguments) {
    value(each);
    if (name == "swap" || name == "merge") lose_elements(each);
  }
  const bool ends = name == "end" || name == "cend" || name == "erase";
  if (!method->isConst() && !ends) lose_elements(object);
  return name == "size" || name == "count" ? number(Dtype::kInt64) : builder_.unknown();
}

// {{"q", q}, {"k", k}}
std::optional<flow::ValueId> FunctionLowering::map_of(llvm::ArrayRef<const Expr*> arguments) {
  const ValueId made = builder_.value(Op::kPack, "", {});
  if (arguments.empty()) return made;
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(stripped(arguments[0]));
  if (!list) return std::nullopt;
  for (const Expr* each : list->inits()) {
    const auto* entry = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(each));
    if (!entry || entry->getNumArgs() != 2) return std::nullopt;
    const auto key = key_of(entry->getArg(0));
    if (!key) return std::nullopt;
    const ValueId held_there = value(entry->getArg(1));
    builder_.store(cell(held(made), key, entry->getType()).place, held_there);
  }
  return made;
}

// A map's iterator is the address of the element that it stands at. Standard libraries give it a class of
// their own.
bool is_map_iterator(clang::QualType given) {
  static const std::unordered_set<std::string> kNames = {
      "std::_Rb_tree_iterator",        "std::_Rb_tree_const_iterator",
      "std::__detail::_Node_iterator", "std::__detail::_Node_const_iterator",
      "std::__map_iterator",           "std::__map_const_iterator",
      "std::__hash_map_iterator",      "std::__hash_map_const_iterator"};
  const clang::CXXRecordDecl* type = given.getNonReferenceType()->getAsCXXRecordDecl();
  return type && kNames.count(plain_name(*type)) != 0;
}

// it->second and (*it).second
std::optional<FunctionLowering::Lvalue> FunctionLowering::mapped_element(const clang::MemberExpr* expr) {
  const auto* access = llvm::dyn_cast<clang::CXXOperatorCallExpr>(stripped(expr->getBase()));
  if (!access || access->getNumArgs() != 1 || !is_map_iterator(access->getArg(0)->getType()))
    return std::nullopt;
  const auto kind = access->getOperator();
  if (kind != clang::OO_Arrow && kind != clang::OO_Star) return std::nullopt;
  const Lvalue element = pointed_at(access->getArg(0));
  return expr->getMemberDecl()->getName() == "second" ? element : held(builder_.unknown());
}

FunctionLowering::Lvalue FunctionLowering::pointed_at(const Expr* iterator) {
  return {{0, value(iterator), {}}, false, false};
}

// What is done to an iterator: moved by ++it, to which element is not known, or compared with the end.
std::optional<ValueId> FunctionLowering::iterator_operator(const clang::CXXOperatorCallExpr* expr) {
  if (!is_map_iterator(expr->getArg(0)->getType())) return std::nullopt;
  switch (expr->getOperator()) {
    case clang::OO_PlusPlus:
    case clang::OO_MinusMinus:
      assign(lvalue(expr->getArg(0)), builder_.unknown());
      return builder_.unknown();
    case clang::OO_EqualEqual:
    case clang::OO_ExclaimEqual: {
      const bool at_end[2] = {is_end(expr->getArg(0)), is_end(expr->getArg(1))};
      if (at_end[0] == at_end[1]) return std::nullopt;
      const ValueId element = load(pointed_at(expr->getArg(at_end[0] ? 1 : 0)));
      const ValueId is_there = builder_.op("defined", {{"self", element}});
      const bool negated = expr->getOperator() == clang::OO_EqualEqual;
      return negated ? builder_.op("logical_not", {{"self", is_there}}) : is_there;
    }
    default:
      return std::nullopt;
  }
}

// The pair in a loop over a map: an unknown key, and any element.
FunctionLowering::Lvalue FunctionLowering::map_entry(const Expr* map, bool may_write) {
  if (may_write) lose_elements(map);
  const ValueId element = load(map_element(map, nullptr));
  return held(builder_.value(Op::kPack, "", {{"", builder_.unknown()}, {"", element}}));
}

}  // namespace dtype_guard::clang_front_end
