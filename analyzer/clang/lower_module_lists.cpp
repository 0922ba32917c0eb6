// torch::nn::ModuleList: what is added is registered with it and one of its cells; `as` and `ptr` give back
// what was added. Sequential's forward is not known: what it runs depends on the types that its elements
// hide.
#include "analyzer/clang/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {
constexpr std::string_view kList = "torch::nn::ModuleListImpl";
}

bool is_module_list(const clang::CXXRecordDecl* record) { return record && plain_name(*record) == kList; }

// The list's constructor takes its elements, or nothing.
ValueId FunctionLowering::module_list(llvm::ArrayRef<const Expr*> arguments) {
  const ValueId made = builder_.value(Op::kModule, "torch::nn::ModuleList", {});
  for (const Expr* each : arguments) add_module(made, each);
  return made;
}

void FunctionLowering::add_module(ValueId list, const Expr* added) {
  const ValueId module = value(added);
  const SourceRange at = position(stripped(added)).range;
  const std::string name = "element at " + std::to_string(at.line) + ":" + std::to_string(at.column);
  builder_.registration("module", list, name, module);
  builder_.store({0, list, {{Place::Step::Kind::kNextCell, "", 0}}}, module);
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
  if (name == "push_back" && arguments.size() == 1) {
    add_module(value(object), arguments[0]);
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
