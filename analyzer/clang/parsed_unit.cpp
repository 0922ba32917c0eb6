#include "analyzer/clang/parsed_unit.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/FileManager.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/Regex.h>

#include <map>
#include <set>

#include "analyzer/clang/lowering/function_lowering.h"
#include "analyzer/clang/lowering/operator_registrations.h"

namespace dtype_guard::clang_front_end {

namespace {

// Lambdas in a table of functions or in an initialiser at namespace scope: they escape, so unseen code may
// run them. Not those of a table that is indexed by dtype: which of them runs depends on the dtype.
class TableEntries : public clang::RecursiveASTVisitor<TableEntries> {
 public:
  explicit TableEntries(clang::Expr* in) { TraverseStmt(in); }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    lambdas.push_back(lambda->getCallOperator());
    return true;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) { return VisitLambdaExpr(lambda); }
  bool VisitDeclRefExpr(clang::DeclRefExpr* named) {
    const auto* type = named->getType()->getAs<clang::EnumType>();
    names_dtypes = names_dtypes || (type && type->getDecl()->getName().ends_with_insensitive("type"));
    return true;
  }
  std::vector<const clang::FunctionDecl*> lambdas;
  bool names_dtypes = false;
};

// Every function with a body to lower, in source order: instantiations and lambdas included, patterns left
// out.
class FunctionCollector : public clang::RecursiveASTVisitor<FunctionCollector> {
 public:
  explicit FunctionCollector(TranslationUnit& unit) : unit_(unit) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) unit_.note_override(method);
    add(function);
    return true;
  }
  bool VisitCXXRecordDecl(clang::CXXRecordDecl* record) {
    const clang::CXXConstructorDecl* unused = unit_.unused_constructor(record);
    if (unused && seen_.insert(unused).second) functions_.push_back(unused);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl* variable) {
    if (!variable->isFileVarDecl() || variable->getDeclContext()->isDependentContext()) return true;
    for (flow::Function& each : operator_registrations(unit_, *variable))
      registrations_.push_back(std::move(each));
    const bool is_function =
        variable->getType()->getAsCXXRecordDecl() &&
        variable->getType()->getAsCXXRecordDecl()->isLambda();  // it is called by its name
    if (!variable->getInit() || is_function || !unit_.is_analysed(variable->getLocation())) return true;
    const TableEntries entries(variable->getInit());
    if (!entries.names_dtypes) open_.insert(entries.lambdas.begin(), entries.lambdas.end());
    return true;
  }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    add(lambda->getCallOperator());
    if (const auto* generic = lambda->getCallOperator()->getDescribedFunctionTemplate()) {
      for (clang::FunctionDecl* each : generic->specializations()) add(each);
    }
    return true;
  }
  // Outside user code nothing has a body worth visiting, and walking libtorch's declarations costs time.
  bool TraverseDecl(clang::Decl* decl) {
    const bool at_top = decl && llvm::isa_and_nonnull<clang::TranslationUnitDecl>(decl->getDeclContext());
    if (at_top && decl->getLocation().isValid() && !unit_.is_analysed(decl->getLocation())) return true;
    return RecursiveASTVisitor::TraverseDecl(decl);
  }

  const std::vector<const clang::FunctionDecl*>& functions() const { return functions_; }
  bool is_open(const clang::FunctionDecl* lambda) const { return open_.contains(lambda); }
  std::vector<flow::Function>& registrations() { return registrations_; }

 private:
  void add(const clang::FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || function->isDependentContext()) return;
    if (!function->getBody() || !unit_.is_analysed(function->getLocation())) return;
    if (function->isInvalidDecl() || function->isDefaulted()) {
      const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function);
      if (function->isInvalidDecl() || !constructor || constructor->isCopyOrMoveConstructor()) return;
    }
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) {
      if (constructor->isInheritingConstructor()) return;
    }
    if (seen_.insert(function).second) functions_.push_back(function);
  }

  TranslationUnit& unit_;
  std::vector<const clang::FunctionDecl*> functions_;
  std::set<const clang::FunctionDecl*> seen_;
  std::set<const clang::FunctionDecl*> open_;  // escaped lambdas
  std::vector<flow::Function> registrations_;
};

std::string macro_text(clang::Preprocessor& preprocessor, llvm::StringRef name) {
  const clang::MacroInfo* macro = preprocessor.getMacroInfo(preprocessor.getIdentifierInfo(name));
  if (!macro || macro->getNumTokens() != 1) return {};
  return preprocessor.getSpelling(*macro->tokens_begin());
}

std::string torch_version(clang::Preprocessor& preprocessor) {
  const std::string major = macro_text(preprocessor, "TORCH_VERSION_MAJOR");
  const std::string minor = macro_text(preprocessor, "TORCH_VERSION_MINOR");
  if (!major.empty() && !minor.empty()) return major + "." + minor;
  // Files that include ATen only do not see torch/version.h, but it stands on the same include path.
  const llvm::Regex version(
      "define[[:space:]]+TORCH_VERSION_MAJOR[[:space:]]+([0-9]+).*"
      "define[[:space:]]+TORCH_VERSION_MINOR[[:space:]]+([0-9]+)");
  const clang::HeaderSearch& headers = preprocessor.getHeaderSearchInfo();
  for (auto folder = headers.search_dir_begin(); folder != headers.search_dir_end(); ++folder) {
    if (!folder->isNormalDir()) continue;
    // 2.13 and later keep the numbers in headeronly.
    for (const char* below :
         {"/torch/headeronly/version.h", "/torch/version.h", "/torch/csrc/api/include/torch/version.h"}) {
      auto text = preprocessor.getFileManager().getBufferForFile((folder->getName() + below).str());
      llvm::SmallVector<llvm::StringRef, 3> match;
      if (text && version.match((*text)->getBuffer(), &match)) return (match[1] + "." + match[2]).str();
    }
  }
  return {};
}

}  // namespace

void lower_parsed(clang::ASTContext& context, clang::Preprocessor& preprocessor,
                  const LoweringOptions& options, LoweredSource& result) {
  const ContractSet& contracts = options.contracts ? *options.contracts : builtin_contracts();
  TranslationUnit unit(context, options.user_code, contracts, result.module);
  FunctionCollector collector(unit);
  collector.TraverseDecl(context.getTranslationUnitDecl());
  std::set<std::string> keys;
  for (const clang::FunctionDecl* each : collector.functions()) {
    flow::Function lowered = FunctionLowering(unit, each).run();
    lowered.external = lowered.external || collector.is_open(each);
    if (keys.insert(lowered.key).second) result.module.functions.push_back(std::move(lowered));
  }
  // Of two registrations for one key in one file the dispatcher takes the last; which that is is not asked.
  std::map<std::string, int> registered;
  for (const flow::Function& each : collector.registrations()) ++registered[each.key];
  for (flow::Function& each : collector.registrations()) {
    if (registered[each.key] == 1) result.module.functions.push_back(std::move(each));
  }
  result.module.overridden = unit.overridden_keys();
  result.module.classes = unit.classes();
  for (const char* name : {"at", "torch"}) {
    clang::IdentifierInfo& id = context.Idents.get(name);
    if (!context.getTranslationUnitDecl()->lookup(clang::DeclarationName(&id)).empty()) {
      result.torch_version = torch_version(preprocessor);
      break;
    }
  }
}

}  // namespace dtype_guard::clang_front_end
