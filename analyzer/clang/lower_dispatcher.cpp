// Operators that are called through PyTorch's dispatcher by name:
//   static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor").typed<...>();
//   op.call(x, y);
#include "analyzer/clang/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

// The name that a handle was looked up by, where that can be read.
std::optional<std::string> looked_up(const Expr* handle) {
  for (int depth = 0; handle && depth < 8; ++depth) {
    handle = stripped(handle);
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(handle); made && made->getNumArgs() == 1) {
      handle = made->getArg(0);
    } else if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(handle)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(named->getDecl());
      handle = variable ? variable->getAnyInitializer() : nullptr;
    } else if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(handle)) {
      const clang::CXXMethodDecl* method = call->getMethodDecl();
      if (!method || !method->getIdentifier()) return std::nullopt;
      if (method->getName() == "typed") {
        handle = call->getImplicitObjectArgument();
        continue;
      }
      if (method->getName() != "findSchemaOrThrow" || call->getNumArgs() == 0) return std::nullopt;
      const auto* name = llvm::dyn_cast<clang::StringLiteral>(stripped(call->getArg(0)));
      return name ? std::optional(name->getString().str()) : std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<flow::ValueId> FunctionLowering::dispatched_operator(const clang::CXXMethodDecl* method,
                                                                   const Expr* object,
                                                                   llvm::ArrayRef<const Expr*> arguments) {
  const bool calls = method->getIdentifier() && method->getName() == "call" &&
                     plain_name(*method->getParent()) == "c10::TypedOperatorHandle";
  const auto name = calls ? looked_up(object) : std::nullopt;
  if (!name) return std::nullopt;
  const std::string aten = "aten::";
  const bool of_aten = name->starts_with(aten);
  if (const Api* api = contract_of(of_aten ? "at::" + name->substr(aten.size()) : *name)) {
    return sink(*api, method, arguments);
  }
  const Operator* entry = of_aten ? find_operator(*name) : nullptr;
  if (!entry) return std::nullopt;
  return tensor_operator(entry, entry->name, nullptr, std::nullopt, arguments);
}

}  // namespace dtype_guard::clang_front_end
