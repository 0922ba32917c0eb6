// Calls that have a contract: which one, and what goes into it.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>

#include "analyzer/clang/lowering/function_lowering.h"
#include "rules/contracts/own_contracts.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {
// The type that a template argument of the function, or of the class it is a member of, names.
clang::QualType template_argument(const clang::FunctionDecl* callee, int position) {
  const clang::TemplateArgumentList* arguments = callee ? callee->getTemplateSpecializationArgs() : nullptr;
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (!arguments && method) {
    const auto* owner = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(method->getParent());
    if (owner) arguments = &owner->getTemplateArgs();
  }
  const auto index = static_cast<unsigned>(position);
  if (!arguments || index >= arguments->size()) return {};
  const clang::TemplateArgument& argument = arguments->get(index);
  return argument.getKind() == clang::TemplateArgument::Type ? argument.getAsType() : clang::QualType();
}
}  // namespace

// A member of a class template goes by its name without the template's arguments too.
const Api* FunctionLowering::contract_of(const std::string& name) const {
  const Api* api = unit_.contracts.find(without_symint(name));
  if (api || name.find('<') == std::string::npos) return api;
  std::string plain;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>' && depth > 0) --depth;
  }
  return unit_.contracts.find(plain);
}

namespace {
// So many parameters that agree with a contract in type and name do not agree by chance.
constexpr std::size_t kTellingOperands = 5;

// `q`, `query` and `q_` name q; `kcache` names k_cache. An optional operand may have a shorter name.
bool is_named_for(const clang::ParmVarDecl* parameter, const Operand& operand) {
  const auto without_bars = [](std::string text) {
    std::erase(text, '_');
    return text;
  };
  std::string name = parameter->getNameAsString();
  while (name.ends_with('_')) name.pop_back();
  const std::string role = without_bars(operand.role);
  const bool shorter = operand.optional && !name.empty() && role.starts_with(without_bars(name));
  return shorter || without_bars(name) == role || role_meant_by(name) == operand.role;
}
}  // namespace

// The contract that a function with a body, in this file or another, implements. Its parameters can hold the
// operands; for a shipped contract, whose name other functions may have too, they are also named like them.
// In a namespace that the contract does not name, all operands are required, and kTellingOperands at least.
const Api* FunctionLowering::contract_of_body(const clang::FunctionDecl* callee) const {
  if (!callee->getIdentifier()) return nullptr;
  const Api* api = contract_of(plain_name(*callee));
  const bool elsewhere = !api && !llvm::isa<clang::CXXMethodDecl>(callee);
  if (elsewhere) api = contract_of(callee->getName().str());
  if (!api) return nullptr;
  const bool own = !is_shipped(*api);
  if (elsewhere && (own || api->operands.size() < kTellingOperands)) return nullptr;
  const bool fits = std::all_of(api->operands.begin(), api->operands.end(), [&](const Operand& operand) {
    if (operand.argument < 0 || operand.dtype_argument >= 0) return false;
    const auto position = static_cast<unsigned>(operand.argument);
    if (position >= callee->getNumParams()) return operand.optional && !elsewhere;
    if (role_kind(operand.role) == RoleKind::kIndex) return true;
    const clang::ParmVarDecl* parameter = callee->getParamDecl(position);
    const TypeFacts type = facts(parameter->getType());
    const TypeKind kind = type.kind == TypeKind::kOptional ? facts(type.inner).kind : type.kind;
    const bool holds_data = kind == TypeKind::kTensor || kind == TypeKind::kList ||
                            kind == TypeKind::kBuffer || kind == TypeKind::kPointer ||
                            kind == TypeKind::kObject;
    return holds_data && (own || is_named_for(parameter, operand));
  });
  return fits ? api : nullptr;
}

// For a function that shares only the name with a contract: the operands whose position and name agree, as a
// sink by roles. The dtypes that its body checks for them apply.
void FunctionLowering::checked_operands(const clang::FunctionDecl* callee, const Arguments& given) {
  const Api* api = callee->hasBody() && callee->getIdentifier() ? contract_of(plain_name(*callee)) : nullptr;
  if (!api || !is_shipped(*api)) return;
  Arguments operands;
  for (const Operand& each : api->operands) {
    const auto position = static_cast<std::size_t>(each.argument);
    if (each.argument < 0 || each.dtype_argument >= 0 || position >= given.size()) continue;
    const clang::ParmVarDecl* parameter = callee->getParamDecl(static_cast<unsigned>(position));
    if (facts(parameter->getType()).kind == TypeKind::kTensor && is_named_for(parameter, each))
      operands.push_back({each.role, given[position].value});
  }
  if (!operands.empty()) builder_.effect(Op::kSink, api->name, std::move(operands));
}

// A pointer and the argument that tells the dtype of its data, lowered as a descriptor.
flow::ValueId FunctionLowering::described(const Expr* data, const Expr* dtype) {
  const ValueId pointer = value(data);
  if (data->isNullPointerConstant(unit_.context, Expr::NPC_ValueDependentIsNotNull)) return pointer;
  const ValueId made = builder_.value(Op::kObject, "DLTensor", {});
  builder_.store(field(held(made), "dtype").place, value(dtype));
  builder_.store(field(held(made), "data").place, pointer);
  return made;
}

flow::ValueId FunctionLowering::sink(const Api& api, const clang::FunctionDecl* callee,
                                     llvm::ArrayRef<const Expr*> arguments) {
  Arguments given;
  const auto is_given = [&](int position) {
    const auto index = static_cast<std::size_t>(position);
    return position >= 0 && index < arguments.size() &&
           !llvm::isa<clang::CXXDefaultArgExpr>(arguments[index]);
  };
  for (const Operand& operand : api.operands) {
    if (operand.template_argument >= 0) {
      const TypeFacts type = facts(template_argument(callee, operand.template_argument));
      if (type.kind == TypeKind::kNumber) given.push_back({operand.role, allocate("template", type.element)});
    } else if (is_given(operand.argument) && is_given(operand.dtype_argument)) {
      given.push_back({operand.role, described(arguments[static_cast<std::size_t>(operand.argument)],
                                               arguments[static_cast<std::size_t>(operand.dtype_argument)])});
    } else if (is_given(operand.argument)) {
      given.push_back({operand.role, value(arguments[static_cast<std::size_t>(operand.argument)])});
    }
  }
  if (is_given(api.result_argument)) {
    const ValueId option = value(arguments[static_cast<std::size_t>(api.result_argument)]);
    given.push_back({std::string(kResultArgument), option});
  }
  const ValueId result = builder_.value(Op::kSink, api.name, std::move(given));
  // The result is unknown where the function returns one tensor and the contract several, or the reverse. A
  // project's own contract with one result also fits a function that returns a list.
  const TypeKind returned = callee ? facts(callee->getReturnType()).kind : TypeKind::kOther;
  const bool fits =
      returned == TypeKind::kList ? !api.results.empty() || !is_shipped(api) : api.results.empty();
  return fits ? result : builder_.unknown();
}

}  // namespace dtype_guard::clang_front_end
