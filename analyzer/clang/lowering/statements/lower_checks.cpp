// Checks that end the program or throw, where they are more than a condition with TORCH_CHECK around it:
// glog's comparisons, and ATen's functions that check arguments.
#include <algorithm>
#include <array>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {
struct Comparison {
  llvm::StringRef written;
  const char* name;
};
constexpr std::array<Comparison, 6> kComparisons = {
    {{"EQ", "eq"}, {"NE", "ne"}, {"LE", "le"}, {"LT", "lt"}, {"GE", "ge"}, {"GT", "gt"}}};

// The call of Check_EQImpl or CheckEQImpl that CHECK_EQ makes.
const clang::CallExpr* comparing_call(const Expr* expr) {
  while (expr) {
    expr = stripped(expr);
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
    const auto* cast = llvm::dyn_cast<clang::CastExpr>(expr);
    if (!made && !cast) break;
    expr = cast ? cast->getSubExpr() : made->getNumArgs() > 0 ? made->getArg(0) : nullptr;
  }
  const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(expr);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  const bool compares = callee && callee->getIdentifier() && callee->getName().starts_with("Check") &&
                        callee->getName().ends_with("Impl") && call->getNumArgs() >= 2;
  return compares ? call : nullptr;
}

const char* comparison_of(llvm::StringRef impl) {
  impl = impl.drop_front(llvm::StringRef("Check").size()).drop_back(llvm::StringRef("Impl").size());
  impl.consume_front("_");
  for (const Comparison& each : kComparisons) {
    if (impl == each.written) return each.name;
  }
  return nullptr;
}

// GetReferenceableValue(x)
const Expr* referred(const Expr* expr) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(stripped(expr));
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  const bool wrapped = callee && callee->getIdentifier() && callee->getName() == "GetReferenceableValue";
  return wrapped && call->getNumArgs() == 1 ? call->getArg(0) : expr;
}
}  // namespace

bool is_fatal(const clang::Stmt* stmt) {
  if (!stmt) return false;
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(stmt)) {
    const clang::CXXRecordDecl* message = made->getConstructor()->getParent();
    if (message->getName().contains("LogMessageFatal")) return true;
  }
  if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(stmt))
    return named->getDecl()->getIdentifier() && named->getDecl()->getName() == "GLOG_FATAL";
  return std::any_of(stmt->child_begin(), stmt->child_end(), is_fatal);
}

// while (auto* failure = Check_EQImpl(a, b, "a == b")) LogMessageFatal(failure).stream() << ...
bool FunctionLowering::checked_comparison(const clang::WhileStmt* stmt) {
  const clang::VarDecl* failure = stmt->getConditionVariable();
  const clang::CallExpr* call = failure ? comparing_call(failure->getInit()) : nullptr;
  const char* name = call ? comparison_of(call->getDirectCallee()->getName()) : nullptr;
  if (!name || !is_fatal(stmt->getBody())) return false;
  Builder::At here(builder_, position(call));
  const ValueId self = value(referred(call->getArg(0))), other = value(referred(call->getArg(1)));
  builder_.effect(Op::kAssume, "", {{"", builder_.op(name, {{"self", self}, {"other", other}})}});
  return true;
}

// The variable that a TensorArg was made of; it holds a reference to it.
const Expr* FunctionLowering::checked_tensor(const Expr* argument) const {
  for (int depth = 0; argument && depth < 8; ++depth) {
    argument = stripped(argument);
    if (facts(argument).kind == TypeKind::kTensor)
      return llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(argument) ? argument : nullptr;
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(argument);
    const auto* listed = llvm::dyn_cast<clang::InitListExpr>(argument);
    const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(argument);
    const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
    argument = made && made->getNumArgs() > 0        ? made->getArg(0)
               : listed && listed->getNumInits() > 0 ? listed->getInit(0)
               : variable                            ? variable->getInit()
                                                     : nullptr;
  }
  return nullptr;
}

// at::checkSameType and its kin. Nothing where it is none of them, or checks what is not seen here.
bool FunctionLowering::argument_check(const std::string& name, llvm::ArrayRef<const Expr*> arguments) {
  const auto assumed = [&](const char* relation, ValueId self, ValueId other) {
    builder_.effect(Op::kAssume, "", {{"", builder_.op(relation, {{"self", self}, {"other", other}})}});
  };
  const auto dtype_of = [&](const Expr* tensor) { return builder_.value(Op::kDtypeOf, value(tensor)); };
  const Expr* first = arguments.size() > 1 ? checked_tensor(arguments[1]) : nullptr;
  if (name == "at::checkAllSameType" && arguments.size() == 2) {
    for (const Expr* each : listed_arguments(arguments[1])) {
      const Expr* next = checked_tensor(each);
      if (!next) return false;
      if (first && first != next) assumed("eq", dtype_of(first), dtype_of(next));
      first = next;
    }
    return true;
  }
  if (!first || arguments.size() < 3) return false;
  if (name == "at::checkSameType") {
    const Expr* second = checked_tensor(arguments[2]);
    if (second) assumed("eq", dtype_of(first), dtype_of(second));
    return second;
  }
  if (name == "at::checkScalarType") {
    assumed("eq", dtype_of(first), value(arguments[2]));
    return true;
  }
  if (name == "at::checkScalarTypes") {
    const ValueId own = dtype_of(first);
    ValueId any = 0;
    for (const Expr* each : listed_arguments(arguments[2])) {
      const ValueId equal = builder_.op("eq", {{"self", own}, {"other", value(each)}});
      any = any ? builder_.op("logical_or", {{"self", any}, {"other", equal}}) : equal;
    }
    if (any) builder_.effect(Op::kAssume, "", {{"", any}});
    return any != 0;
  }
  if (name == "at::checkDim" || name == "at::checkDimRange") {
    const ValueId dimensions = builder_.op("dim", {{"self", value(first)}});
    assumed(name == "at::checkDim" ? "eq" : "ge", dimensions, value(arguments[2]));
    return true;
  }
  return false;
}

// What stands in the braces of an ArrayRef.
std::vector<const Expr*> FunctionLowering::listed_arguments(const Expr* list) {
  while (list) {
    list = stripped(list);
    if (const auto* braces = llvm::dyn_cast<clang::InitListExpr>(list))
      return {braces->inits().begin(), braces->inits().end()};
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(list);
    const auto* standard = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(list);
    list = standard ? standard->getSubExpr() : made && made->getNumArgs() > 0 ? made->getArg(0) : nullptr;
  }
  return {};
}

// A function by its name: what a pointer to it holds.
ValueId FunctionLowering::function_pointer(const clang::FunctionDecl* function) {
  const clang::FunctionDecl* definition = unit_.user_definition(function);
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (!definition || (method && method->isInstance())) return builder_.unknown();
  return builder_.value(Op::kClosure, unit_.key(definition), {});
}

}  // namespace dtype_guard::clang_front_end
