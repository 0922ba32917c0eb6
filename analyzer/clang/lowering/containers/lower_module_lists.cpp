// torch::nn::ModuleList and Sequential: what is added is registered with it and one of its cells; `as` and
// `ptr` give back what was added. Sequential's forward runs its elements one after the other, which the
// engine does.
#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {
constexpr std::string_view kList = "torch::nn::ModuleListImpl";
constexpr std::string_view kSequential = "torch::nn::SequentialImpl";
}  // namespace

bool is_module_list(const clang::CXXRecordDecl* record) {
  if (!record) return false;
  const std::string name = plain_name(*record);
  return name == kList || name == kSequential;
}

namespace {
// {{"linear", Linear(8, 8)}, {"activation", ReLU()}}: the modules, in order.
llvm::SmallVector<const Expr*> with_names(const Expr* braces) {
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(stripped(braces));
  llvm::SmallVector<const Expr*> out;
  if (!list) return {braces};
  for (const Expr* each : list->inits()) {
    const auto* named = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(each));
    const bool pair = named && named->getNumArgs() == 2 &&
                      plain_name(*named->getConstructor()->getParent()) == "torch::nn::NamedAnyModule";
    if (!pair) return {braces};
    out.push_back(named->getArg(1));
  }
  return out;
}
}  // namespace

// The list's constructor takes its elements, or nothing. Elements with names stand in braces.
ValueId FunctionLowering::module_list(const clang::CXXRecordDecl* list,
                                      llvm::ArrayRef<const Expr*> arguments) {
  const bool runs = plain_name(*list) == kSequential;
  const ValueId made =
      builder_.value(Op::kModule, runs ? "torch::nn::Sequential" : "torch::nn::ModuleList", {});
  for (const Expr* each : arguments) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(each)) continue;
    for (const Expr* one : with_names(each)) add_module(made, one, runs);
  }
  return made;
}

// The module itself, a holder of one or a pointer to one.
bool FunctionLowering::is_module(const TypeFacts& type) const {
  const TypeFacts pointed = type.inner.isNull() ? type : facts(type.inner);
  return pointed.record && pointed.record->hasDefinition() &&
         derives_from(*pointed.record, "torch::nn::Module");
}

void FunctionLowering::add_module(ValueId list, const Expr* added, bool ordered) {
  const bool known = is_module(facts(stripped(added)));
  if (ordered && !known) {
    builder_.store(cell(held(list), std::nullopt, {}).place, builder_.unknown());
    return;
  }
  const ValueId module = value(added);
  const SourceRange at = position(stripped(added)).range;
  const std::string name = "element at " + std::to_string(at.line) + ":" + std::to_string(at.column);
  builder_.registration("module", list, name, module);
  const bool once = !ordered || breaks_.empty();  // in a loop the count is unknown
  builder_.store({0, list, {{once ? Place::Step::Kind::kNextCell : Place::Step::Kind::kAnyCell, "", 0}}},
                 module);
}

// ptr<T>(i), at<T>(i) and [i]
FunctionLowering::Lvalue FunctionLowering::listed_module(const Expr* list, const Expr* index) {
  return cell(held(value(list)), integer(index), {});
}

std::optional<ValueId> FunctionLowering::module_list_member(const clang::CXXMethodDecl* method,
                                                            const Expr* object,
                                                            llvm::ArrayRef<const Expr*> arguments) {
  if (!is_module_list(method->getParent()) || !method->getIdentifier()) return std::nullopt;
  const llvm::StringRef name = method->getName();
  if ((name == "ptr" || name == "at") && arguments.size() == 1)
    return load(listed_module(object, arguments[0]));
  if (name == "push_back" && !arguments.empty()) {  // with a name before it
    add_module(value(object), arguments.back(), plain_name(*method->getParent()) == kSequential);
    return ValueId{0};
  }
  if (name == "insert" || name == "extend") {
    for (const Expr* each : arguments) value(each);
    builder_.store(cell(held(value(object)), std::nullopt, {}).place, builder_.unknown());
    return ValueId{0};
  }
  return std::nullopt;
}

}  // namespace dtype_guard::clang_front_end
