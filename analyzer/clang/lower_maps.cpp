// Maps of tensors: an element with a constant key is a cell of its own, any other may be each of them.
#include <llvm/Support/xxhash.h>

#include <array>

#include "analyzer/clang/function_lowering.h"

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

// Whoever can write to an element without naming its key may have written to any.
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

// What a loop over a map has in its hand: some key, and some element.
FunctionLowering::Lvalue FunctionLowering::map_entry(const Expr* map, bool may_write) {
  if (may_write) lose_elements(map);
  const ValueId element = load(map_element(map, nullptr));
  return held(builder_.value(Op::kPack, "", {{"", builder_.unknown()}, {"", element}}));
}

}  // namespace dtype_guard::clang_front_end
