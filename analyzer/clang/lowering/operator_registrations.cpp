#include "analyzer/clang/lowering/operator_registrations.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include "analyzer/clang/lowering/function_lowering.h"
#include "analyzer/flow/ir/builder.h"
#include "analyzer/flow/ir/registered_names.h"

namespace dtype_guard::clang_front_end {

namespace {

using clang::Expr;

struct Registration {
  std::string name;  // with its namespace
  std::string key;
  const clang::FunctionDecl* kernel = nullptr;  // nullptr: not known
  clang::SourceRange range;
};

// The first thing of a kind in an expression.
template <class Wanted>
class First : public clang::RecursiveASTVisitor<First<Wanted>> {
 public:
  explicit First(const Expr* in) { this->TraverseStmt(const_cast<Expr*>(in)); }
  bool VisitStmt(clang::Stmt* stmt) {
    found = llvm::dyn_cast<Wanted>(stmt);
    return !found;
  }
  const Wanted* found = nullptr;
};

// What a dispatch key or a device is called: DispatchKey::CUDA, torch::kCUDA.
class NamedKey : public clang::RecursiveASTVisitor<NamedKey> {
 public:
  explicit NamedKey(const Expr* in) { TraverseStmt(const_cast<Expr*>(in)); }
  bool VisitDeclRefExpr(clang::DeclRefExpr* named) {
    if (!llvm::isa<clang::FunctionDecl>(named->getDecl())) found = named->getDecl();
    return !found;
  }
  const clang::ValueDecl* found = nullptr;
};

std::string key_name(const Expr* expr, int depth = 0) {
  const clang::ValueDecl* named = NamedKey(expr).found;
  if (!named || depth > 4) return std::string(flow::kUnknownKey);
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(named)) {
    const Expr* init = variable->getAnyInitializer();
    return init ? key_name(init, depth + 1) : std::string(flow::kUnknownKey);
  }
  if (!llvm::isa<clang::EnumConstantDecl>(named)) return std::string(flow::kUnknownKey);
  const std::string name = named->getNameAsString();
  if (name == "CatchAll") return std::string(flow::kForAnyKey);
  return name == "Autocast" ? "AutocastCUDA" : name;  // one key with two names
}

bool is_key(const Expr* expr) {
  const auto* type = expr->getType()->getAs<clang::EnumType>();
  const llvm::StringRef name = type ? type->getDecl()->getName() : "";
  return name == "DispatchKey" || name == "DeviceType";
}

// `&kernel`, a lambda, TORCH_FN(kernel).
const clang::FunctionDecl* kernel_of(const Expr* expr) {
  expr = stripped(expr);
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr);
      address && address->getOpcode() == clang::UO_AddrOf) {
    expr = stripped(address->getSubExpr());
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expr)) return kernel_of(cast->getSubExpr());
  if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(expr))
    return llvm::dyn_cast<clang::FunctionDecl>(named->getDecl());
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(expr)) return lambda->getCallOperator();
  const auto* made =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(expr->getType()->getAsCXXRecordDecl());
  if (!made || made->getName() != "CompileTimeFunctionPointer") return nullptr;
  const clang::TemplateArgumentList& arguments = made->getTemplateArgs();
  if (arguments.size() < 2 || arguments[1].getKind() != clang::TemplateArgument::Declaration) return nullptr;
  return llvm::dyn_cast<clang::FunctionDecl>(arguments[1].getAsDecl());
}

// The calls of def and impl in a block, and what each of them says.
class Block : public clang::RecursiveASTVisitor<Block> {
 public:
  Block(std::string library, std::string key) : library_(std::move(library)), key_(std::move(key)) {}

  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    if (!method || !method->getIdentifier() || plain_name(*method->getParent()) != "torch::Library")
      return true;
    const bool defines = method->getName() == "def";
    if ((!defines && method->getName() != "impl") || call->getNumArgs() < 2) return true;
    const auto* text = First<clang::StringLiteral>(call->getArg(0)).found;
    if (!text || (defines && !is_kernel(call->getArg(1)))) return true;
    Registration one{qualified(text->getString().str()), defines ? std::string(flow::kForAnyKey) : key_,
                     nullptr, call->getSourceRange()};
    const Expr* kernel = call->getArg(1);
    if (is_key(kernel) && call->getNumArgs() > 2) {
      one.key = key_name(kernel);
      kernel = call->getArg(2);
    }
    add(std::move(one), kernel);
    return true;
  }

  std::vector<Registration> registrations;

 private:
  // m.def("f(Tensor x) -> Tensor", {tags}) gives no kernel.
  static bool is_kernel(const Expr* argument) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) return false;
    const clang::CXXRecordDecl* record = stripped(argument)->getType()->getAsCXXRecordDecl();
    return !llvm::isa<clang::InitListExpr>(stripped(argument)) && !(record && record->getName() == "vector");
  }

  std::string qualified(std::string schema) const {
    schema = schema.substr(0, schema.find('('));
    while (schema.ends_with(' ')) schema.pop_back();
    return schema.find("::") == std::string::npos ? library_ + "::" + schema : schema;
  }

  // torch::dispatch(key, kernel) says for which key; a fall-through is no kernel.
  void add(Registration one, const Expr* kernel) {
    const auto* call = First<clang::CallExpr>(stripped(kernel)).found;
    const clang::FunctionDecl* callee =
        call && !llvm::isa<clang::LambdaExpr>(stripped(kernel)) ? call->getDirectCallee() : nullptr;
    const std::string name = callee ? plain_name(*callee) : std::string();
    if (name == "torch::CppFunction::makeFallthrough") return;
    if (name == "torch::dispatch" && call->getNumArgs() == 2) {
      one.key = key_name(call->getArg(0));
      return add(std::move(one), call->getArg(1));
    }
    one.kernel = kernel_of(kernel);
    registrations.push_back(std::move(one));
  }

  std::string library_;
  std::string key_;
};

flow::Function forwarding(TranslationUnit& unit, const Registration& one) {
  flow::Function out;
  out.key = std::string(flow::kRegistered) + one.name + "@" + one.key;
  out.name = one.name;
  out.external = false;
  out.foreign = true;  // it runs where the operator is called
  out.range = unit.range(one.range);
  Builder builder(out);
  Builder::At here(builder, unit.position(one.range));
  std::vector<flow::Argument> given;
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(one.kernel);
  const bool lambda = method && method->getParent()->isLambda();
  if (lambda) given.push_back({"", builder.value(flow::Op::kClosure, unit.key(one.kernel), {})});
  const unsigned count = one.kernel ? one.kernel->getNumParams() : 0;
  for (unsigned i = 0; i < count; ++i) {
    out.parameters.emplace_back().name = one.kernel->getParamDecl(i)->getNameAsString();
    given.push_back({"", builder.parameter(static_cast<int>(i))});
  }
  const std::string callee = one.kernel ? unit.key(one.kernel) : std::string("torch::CppFunction");
  builder.give_back(builder.value(flow::Op::kCall, callee, std::move(given)));
  builder.finish();
  return out;
}

// The function that a block's body became; through the lambdas that some versions wrap it in.
class BodyOf : public clang::RecursiveASTVisitor<BodyOf> {
 public:
  explicit BodyOf(const Expr* in) { TraverseStmt(const_cast<Expr*>(in)); }
  bool VisitDeclRefExpr(clang::DeclRefExpr* named) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(named->getDecl());
    if (!function || function->getNumParams() != 1) return true;
    const clang::CXXRecordDecl* given =
        function->getParamDecl(0)->getType().getNonReferenceType()->getAsCXXRecordDecl();
    const clang::FunctionDecl* definition = nullptr;
    if (given && plain_name(*given) == "torch::Library" && function->hasBody(definition))
      body = definition->getBody();
    return !body;
  }
  clang::Stmt* body = nullptr;
};

}  // namespace

std::vector<flow::Function> operator_registrations(TranslationUnit& unit, const clang::VarDecl& variable) {
  const clang::CXXRecordDecl* type = variable.getType()->getAsCXXRecordDecl();
  if (!type || !type->getIdentifier() || type->getName() != "TorchLibraryInit" || !variable.getInit())
    return {};
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(variable.getInit()));
  if (!made || made->getNumArgs() < 4) return {};
  const auto* library = First<clang::StringLiteral>(made->getArg(2)).found;
  clang::Stmt* body = BodyOf(made->getArg(1)).body;
  if (!library || !body) return {};
  const std::string key = key_name(made->getArg(3));  // std::nullopt in TORCH_LIBRARY
  Block block(library->getString().str(), key != flow::kUnknownKey ? key : std::string(flow::kForAnyKey));
  block.TraverseStmt(body);
  std::vector<flow::Function> out;
  for (const Registration& each : block.registrations) out.push_back(forwarding(unit, each));
  return out;
}

}  // namespace dtype_guard::clang_front_end
