// Elements of lists by iterators, and the standard algorithms and views that take every element: for_each,
// transform, copy, accumulate. An iterator is the address of some element of its list; what an algorithm
// calls is called with it.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

clang::QualType first_type(const clang::CXXRecordDecl& record) {
  const auto* specialization = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (!specialization || specialization->getTemplateArgs().size() == 0) return {};
  const clang::TemplateArgument& first = specialization->getTemplateArgs().get(0);
  return first.getKind() == clang::TemplateArgument::Type ? first.getAsType() : clang::QualType();
}

// What an iterator of a list points to; nothing for any other type.
clang::QualType pointee(clang::QualType iterator, int depth = 0) {
  const clang::CXXRecordDecl* record = iterator.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || depth > 4) return {};
  static const std::unordered_set<std::string> kOfPointer = {"__gnu_cxx::__normal_iterator",
                                                             "std::__wrap_iter"};
  static const std::unordered_set<std::string> kOfElement = {
      "std::_Deque_iterator",  "std::_List_iterator",  "std::_List_const_iterator",
      "std::__deque_iterator", "std::__list_iterator", "std::__list_const_iterator"};
  static const std::unordered_set<std::string> kOfIterator = {"std::reverse_iterator", "std::move_iterator"};
  const std::string name = plain_name(*record);
  const clang::QualType first = first_type(*record);
  if (first.isNull()) return {};
  if (kOfPointer.count(name)) return first->getPointeeType();
  if (kOfElement.count(name)) return first;
  if (!kOfIterator.count(name)) return {};
  return first->isPointerType() ? first->getPointeeType() : pointee(first, depth + 1);
}

// `list.begin()`, `std::begin(list)` and their kin: the list; `which` says which of the two ends.
const Expr* list_of(const Expr* expr, llvm::StringRef which) {
  expr = stripped(expr);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr); made && made->getNumArgs() == 1)
    return list_of(made->getArg(0), which);  // a const_iterator of an iterator
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !callee->getIdentifier()) return nullptr;
  llvm::StringRef name = callee->getName();
  name.consume_front("c");
  name.consume_front("r");
  if (name != which) return nullptr;
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call))
    return call->getNumArgs() == 0 ? stripped(member->getImplicitObjectArgument()) : nullptr;
  return callee->isInStdNamespace() && call->getNumArgs() == 1 ? stripped(call->getArg(0)) : nullptr;
}

bool is_backwards(const Expr* first) {
  const clang::CXXRecordDecl* record = first->getType()->getAsCXXRecordDecl();
  return record && record->getName() == "reverse_iterator";
}

// The same variable, or the same member of the same object.
bool same_place(const Expr* a, const Expr* b) {
  a = stripped(a);
  b = stripped(b);
  if (llvm::isa<clang::CXXThisExpr>(a)) return llvm::isa<clang::CXXThisExpr>(b);
  const auto* one = llvm::dyn_cast<clang::DeclRefExpr>(a);
  const auto* other = llvm::dyn_cast<clang::DeclRefExpr>(b);
  if (one && other) return one->getDecl() == other->getDecl();
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(a);
  const auto* same = llvm::dyn_cast<clang::MemberExpr>(b);
  return member && same && member->getMemberDecl() == same->getMemberDecl() &&
         same_place(member->getBase(), same->getBase());
}

// What a function object of the project's own, a lambda or a function runs; nothing where that cannot be
// told.
const clang::FunctionDecl* run_by(const Expr* function) {
  function = stripped(function);
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(function);
      address && address->getOpcode() == clang::UO_AddrOf) {
    function = stripped(address->getSubExpr());
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(function)) return run_by(cast->getSubExpr());
  if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(function)) {
    if (const auto* callee = llvm::dyn_cast<clang::FunctionDecl>(named->getDecl())) return callee;
  }
  const clang::CXXRecordDecl* record = function->getType()->getAsCXXRecordDecl();
  if (!record || !record->getDefinition()) return nullptr;
  const clang::CXXMethodDecl* found = nullptr;
  for (const clang::CXXMethodDecl* each : record->getDefinition()->methods()) {
    if (each->getOverloadedOperator() != clang::OO_Call) continue;
    if (found) return nullptr;
    found = each;
  }
  return found && !found->isDependentContext() ? found : nullptr;
}

bool is_of_std(const clang::NamedDecl& decl) { return plain_name(decl).starts_with("std::"); }

// The name of an algorithm or view of std::ranges, which are objects.
std::string object_name(const Expr* expr) {
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(stripped(expr));
  const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  return variable && variable->getIdentifier() && is_of_std(*variable) ? variable->getName().str() : "";
}

bool is_view(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && is_of_std(*record) && record->getName().ends_with("_view");
}

}  // namespace

bool is_list_iterator(clang::QualType type) { return !pointee(type).isNull(); }

// Whether list.begin() is the address of an element; runs of numbers are buffers, shapes and indices.
bool FunctionLowering::has_addresses(const Expr* list) const {
  const TypeFacts type = facts(list);
  return type.kind == TypeKind::kList && !type.inner.isNull() && facts(type.inner).kind != TypeKind::kNumber;
}

// list.begin(), and the other ways to say where a list begins or ends.
std::optional<ValueId> FunctionLowering::end_of_list(llvm::StringRef name, const Expr* list) {
  name.consume_front("c");
  name.consume_front("r");
  if ((name != "begin" && name != "end") || !has_addresses(list)) return std::nullopt;
  return builder_.address(some_element(list).place);
}

bool FunctionLowering::end_of_list_is(const Expr* iterator, const Expr* list) const {
  const Expr* ended = list_of(iterator, "end");
  return ended && has_addresses(list) && same_place(ended, list);
}

// list(first, last)
std::optional<ValueId> FunctionLowering::list_of_elements(llvm::ArrayRef<const Expr*> arguments) {
  if (arguments.size() < 2) return std::nullopt;
  const TypeFacts first = facts(arguments[0]);
  const bool of_pointer = first.kind == TypeKind::kPointer && facts(first.inner).kind != TypeKind::kNumber &&
                          facts(arguments[1]).kind == TypeKind::kPointer;
  if (!of_pointer && !(is_list_iterator(arguments[0]->getType()) && first.kind != TypeKind::kBuffer))
    return std::nullopt;
  const Elements from = elements_of(arguments[0], arguments[1]);
  if (from.whole && from.forward) return builder_.op("copy_of", {{"self", load(from.list)}});
  const ValueId made = builder_.value(Op::kPack, "", {});
  builder_.store(cell(held(made), std::nullopt, from.type).place, load(from.element));
  return made;
}

FunctionLowering::Lvalue FunctionLowering::some_element(const Expr* list) {
  return cell(lvalue(list), std::nullopt, list->getType());
}

// Wherever it is moved to, it stands at some element.
std::optional<ValueId> FunctionLowering::list_iterator_operator(const clang::CXXOperatorCallExpr* expr) {
  const Expr* first = expr->getArg(0);
  const bool of_left = is_list_iterator(first->getType());
  if (!of_left || facts(first).kind == TypeKind::kBuffer) return std::nullopt;
  switch (expr->getOperator()) {
    case clang::OO_PlusPlus:
    case clang::OO_MinusMinus:
    case clang::OO_PlusEqual:
    case clang::OO_MinusEqual:
    case clang::OO_Plus:
      return value(first);
    case clang::OO_Minus:
      return is_list_iterator(expr->getArg(1)->getType()) ? number(Dtype::kInt64) : value(first);
    case clang::OO_EqualEqual:
    case clang::OO_ExclaimEqual:
    case clang::OO_Less:
      return builder_.unknown();
    default:
      return std::nullopt;
  }
}

FunctionLowering::Elements FunctionLowering::elements_of(const Expr* range) {
  const Lvalue list = lvalue(range);
  return {cell(list, std::nullopt, range->getType()), list, range->getType(), true, true, range};
}

FunctionLowering::Elements FunctionLowering::elements_of(const Expr* first, const Expr* last) {
  const Expr* list = list_of(first, "begin");
  const Expr* ended = last ? list_of(last, "end") : nullptr;
  if (list && facts(list).kind != TypeKind::kMap) {
    Elements all = elements_of(list);
    all.whole = ended && same_place(list, ended);
    all.forward = !is_backwards(first);
    return all;
  }
  const bool numbers = facts(first).kind == TypeKind::kBuffer;
  const Lvalue element = numbers ? cell(lvalue(first), std::nullopt, first->getType()) : pointed_at(first);
  return {element, element, first->getType(), false, true, nullptr};
}

// All elements are that now; of a part of a list, some may be.
void FunctionLowering::replace(const Elements& elements, ValueId with) {
  if (!elements.whole || elements.list.is_value || elements.element.is_element)
    return assign(elements.element, with);
  builder_.store(elements.list.place, builder_.value(Op::kPack, "", {}));
  builder_.store(elements.element.place, with);
}

// What is written through an output iterator, which may add elements.
void FunctionLowering::put(const Expr* output, const Elements& from, ValueId written) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(stripped(output));
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  const bool inserts = callee && callee->isInStdNamespace() && callee->getIdentifier() &&
                       callee->getName().ends_with("inserter") && call->getNumArgs() > 0;
  if (inserts) return assign(some_element(call->getArg(0)), written);
  const Expr* list = list_of(output, "begin");
  Elements to = list ? elements_of(list) : elements_of(output, nullptr);
  to.whole = list && from.whole && from.named && same_place(list, from.named);
  replace(to, written);
}

// One call of the function that an algorithm was given.
ValueId FunctionLowering::applied(const Expr* function, ValueId object, const std::vector<Lvalue>& given) {
  const clang::FunctionDecl* callee = run_by(function);
  const bool method = llvm::isa_and_nonnull<clang::CXXMethodDecl>(callee) &&
                      llvm::cast<clang::CXXMethodDecl>(callee)->isInstance();
  const clang::FunctionDecl* body = callee ? unit_.user_definition(callee) : nullptr;
  Arguments arguments;
  if (method || !body) arguments.push_back({"", object});
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool known = body && i < body->getNumParams();
    const clang::QualType type =
        known ? body->getParamDecl(static_cast<unsigned>(i))->getType() : clang::QualType();
    const bool by_address =
        known && is_rebindable_reference(type) && !given[i].is_value && !given[i].is_element;
    ValueId passed = by_address ? builder_.address(given[i].place) : load(given[i]);
    const TypeFacts taken = known ? facts(type) : TypeFacts();
    if (given[i].is_element && taken.kind == TypeKind::kNumber && is_floating(taken.element))
      passed = builder_.cast(passed, dtype_constant(taken.element), true);
    arguments.push_back({"", passed});
  }
  return builder_.value(Op::kCall, body ? unit_.key(body) : "", std::move(arguments));
}

std::optional<ValueId> FunctionLowering::algorithm(llvm::StringRef name,
                                                   llvm::ArrayRef<const Expr*> arguments) {
  static constexpr std::array kNames = {"for_each", "transform", "copy", "accumulate"};
  if (arguments.empty()) return std::nullopt;
  if ((name == "next" || name == "prev") && is_list_iterator(arguments[0]->getType()))
    return value(arguments[0]);
  if (arguments.size() == 1) return end_of_list(name, arguments[0]);
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return std::nullopt;
  while (!arguments.empty() && llvm::isa<clang::CXXDefaultArgExpr>(arguments.back()))
    arguments = arguments.drop_back();
  // Of std::ranges, a range stands where elsewhere two iterators do.
  const TypeFacts first = facts(arguments[0]);
  const bool range = has_addresses(arguments[0]);
  const bool pointer = first.kind == TypeKind::kPointer && facts(first.inner).kind != TypeKind::kNumber;
  const std::size_t used = range ? 1 : 2;
  if (!range && !pointer && first.kind != TypeKind::kBuffer && !is_list_iterator(arguments[0]->getType()))
    return std::nullopt;
  if (arguments.size() < used + 1) return std::nullopt;
  Elements from = range ? elements_of(arguments[0]) : elements_of(arguments[0], arguments[1]);
  arguments = arguments.drop_front(used);
  if (name == "for_each" && arguments.size() == 1) return for_each(from, arguments[0]);
  if (name == "accumulate") return accumulate(from, arguments);
  if (name == "copy" && arguments.size() == 1) {
    ValueId copied = load(from.element);
    const TypeFacts to = facts(arguments[0]);
    if (to.kind == TypeKind::kBuffer && first.kind == TypeKind::kBuffer && to.element != first.element)
      copied = number_as(copied, first.element, to.element, true);
    put(arguments[0], from, copied);
    return builder_.unknown();
  }
  if (name != "transform" || arguments.size() < 2 || arguments.size() > 3) return std::nullopt;
  const Expr* function = arguments.back();
  std::vector<Lvalue> given = {from.element};
  if (arguments.size() == 3) given.push_back(elements_of(arguments[0], nullptr).element);
  const ValueId object = value(function);
  for_elements([&] { put(arguments[arguments.size() - 2], from, applied(function, object, given)); });
  return builder_.unknown();
}

ValueId FunctionLowering::for_each(const Elements& from, const Expr* function) {
  const ValueId object = value(function);
  if (from.element.is_element) {
    for_elements([&] { applied(function, object, {from.element}); });
    return object;
  }
  const clang::FunctionDecl* callee = run_by(function);
  const bool known = callee && callee->getNumParams() == 1 && unit_.user_definition(callee);
  const Lvalue held_now = {{builder_.variable("[element]"), 0, {}}, false, false};
  for_elements([&] {
    assign(held_now, load(from.element));
    applied(function, object, {held_now});
    if (!known) assign(held_now, builder_.unknown());  // a generic lambda that is never instantiated
  });
  if (!known || is_rebindable_reference(callee->getParamDecl(0)->getType())) replace(from, load(held_now));
  return object;
}

// Of tensors: the sum, or what the function given makes of what there is and the next one.
std::optional<ValueId> FunctionLowering::accumulate(const Elements& from,
                                                    llvm::ArrayRef<const Expr*> arguments) {
  if (arguments.size() > 2 || facts(arguments[0]).kind != TypeKind::kTensor) return std::nullopt;
  const Expr* function = arguments.size() == 2 ? arguments[1] : nullptr;
  const Lvalue sum = {{builder_.variable("[sum]"), 0, {}}, false, false};
  assign(sum, value(arguments[0]));
  const ValueId object = function ? value(function) : 0;
  for_elements([&] {
    const ValueId so_far = load(sum);
    const ValueId next = function ? applied(function, object, {held(so_far), from.element})
                                  : builder_.op("add", {{"self", so_far}, {"other", load(from.element)}});
    assign(sum, next);
  });
  return load(sum);
}

// `list | std::views::transform(f)` and `std::views::transform(list, f)`: a list of what f gives. Of other
// views it is known that they have elements of the list.
std::optional<ValueId> FunctionLowering::view(const clang::CXXOperatorCallExpr* expr) {
  if (!is_view(expr->getType())) return std::nullopt;
  const bool piped = expr->getOperator() == clang::OO_Pipe;
  if ((!piped && expr->getOperator() != clang::OO_Call) || expr->getNumArgs() < 2) return std::nullopt;
  const Expr* list = expr->getArg(piped ? 0 : 1);
  if (facts(list).kind != TypeKind::kList && !is_view(list->getType())) return std::nullopt;
  const Expr* adaptor = stripped(expr->getArg(piped ? 1 : 0));
  const Expr* function = !piped && expr->getNumArgs() == 3 ? expr->getArg(2) : nullptr;
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(adaptor);
      call && call->getNumArgs() == 2) {
    adaptor = call->getArg(0);
    function = call->getArg(1);
  }
  const std::string name = object_name(adaptor);
  if (name.empty()) return std::nullopt;
  const Elements from = elements_of(list);
  const ValueId made = builder_.value(Op::kPack, "", {});
  const ValueId element = name == "transform" && function ? applied(function, value(function), {from.element})
                                                          : load(from.element);
  builder_.store(cell(held(made), std::nullopt, expr->getType()).place, element);
  return made;
}

// Algorithms of std::ranges are objects that are called.
std::optional<ValueId> FunctionLowering::called_object(const clang::CXXOperatorCallExpr* expr) {
  if (const auto seen = view(expr)) return seen;
  const std::string name = expr->getOperator() == clang::OO_Call ? object_name(expr->getArg(0)) : "";
  if (name.empty()) return std::nullopt;
  return algorithm(name, llvm::ArrayRef<const Expr*>(expr->getArgs(), expr->getNumArgs()).drop_front(1));
}

}  // namespace dtype_guard::clang_front_end
