// Operators that are called through PyTorch's dispatcher by name:
//   static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor").typed<...>();
//   op.call(x, y);
// One that the project registers itself (operator_registrations.cpp) is a call of what is registered.
#include "analyzer/clang/lowering/function_lowering.h"
#include "analyzer/flow/ir/registered_names.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

struct Name {
  std::string name;
  std::string overload;
};

// The name that a handle was looked up by, where that can be read.
std::optional<Name> looked_up(const Expr* handle) {
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
      if (!name) return std::nullopt;
      Name out{name->getString().str(), {}};
      const Expr* overload = call->getNumArgs() > 1 ? stripped(call->getArg(1)) : nullptr;
      if (const auto* text = llvm::dyn_cast_or_null<clang::StringLiteral>(overload))
        out.overload = text->getString().str();
      return out;
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
  const auto asked = calls ? looked_up(object) : std::nullopt;
  if (!asked) return std::nullopt;
  const std::string* name = &asked->name;
  const std::string aten = "aten::";
  const bool of_aten = name->starts_with(aten);
  if (const Api* api = contract_of(of_aten ? "at::" + name->substr(aten.size()) : *name)) {
    return sink(*api, method, arguments);
  }
  if (!of_aten) {
    Arguments given;
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const bool declared = i < method->getNumParams();
      given.push_back(
          {"", declared ? pass(arguments[i], method->getParamDecl(i)->getType()) : value(arguments[i])});
    }
    const std::string overload = asked->overload.empty() ? "" : "." + asked->overload;
    return builder_.value(Op::kCall, std::string(kRegistered) + *name + overload, std::move(given));
  }
  const Operator* entry = find_operator(*name);
  if (!entry) return std::nullopt;
  return tensor_operator(entry, entry->name, nullptr, std::nullopt, arguments);
}

}  // namespace dtype_guard::clang_front_end
