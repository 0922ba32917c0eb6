// Calls of library functions: operators of the table, with their arguments by the table's names, and
// functions of which only the result's type is known.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/clang/lowering/function_lowering.h"
#include "rules/operators/library_operators.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

// torch::kArea, a choice among several: "area". Empty for what is no such name.
std::string choice_of(const Expr* expr) {
  constexpr llvm::StringRef kScope = "torch::enumtype::k";
  while (expr) {
    expr = stripped(expr);
    const clang::CXXRecordDecl* type = expr->getType()->getAsCXXRecordDecl();
    const std::string name = type ? plain_name(*type) : "";
    if (llvm::StringRef(name).starts_with(kScope))
      return llvm::StringRef(name).drop_front(kScope.size()).lower();
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
    expr = made && made->getNumArgs() == 1 ? made->getArg(0) : nullptr;
  }
  return {};
}

bool lists(const Operator& entry, std::string_view argument) {
  return std::find(entry.arguments.begin(), entry.arguments.end(), argument) != entry.arguments.end();
}

// The table's first argument that no parameter of the callee has the name of: functional::embedding takes
// (input, weight) where the table has (weight, indices).
std::string unclaimed(const Operator& entry, const clang::FunctionDecl* callee,
                      const std::vector<flow::Argument>& given) {
  for (const std::string& each : entry.arguments) {
    const bool taken =
        std::any_of(given.begin(), given.end(), [&](const flow::Argument& one) { return one.name == each; });
    const bool claimed = callee && std::any_of(callee->param_begin(), callee->param_end(),
                                               [&](const auto* one) { return one->getName() == each; });
    if (!taken && !claimed) return each;
  }
  return {};
}

// The elements of a std::tuple, which is how ATen returns several results.
std::vector<clang::QualType> tuple_elements(clang::QualType type) {
  const auto* tuple = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
      type.getNonReferenceType()->getAsCXXRecordDecl());
  std::vector<clang::QualType> out;
  if (!tuple || plain_name(*tuple) != "std::tuple") return out;
  for (const clang::TemplateArgument& each : tuple->getTemplateArgs().asArray()) {
    if (each.getKind() != clang::TemplateArgument::Pack) continue;
    for (const clang::TemplateArgument& element : each.pack_elements()) {
      if (element.getKind() == clang::TemplateArgument::Type) out.push_back(element.getAsType());
    }
  }
  return out;
}

bool carries_dtype(TypeKind kind) { return kind == TypeKind::kDtype || kind == TypeKind::kOptions; }

}  // namespace

// Behaves as an operator: by position, since its parameters have names of their own. A number has the type
// that the function declares, whatever it was made of.
flow::ValueId FunctionLowering::helper_call(const std::string& name, const clang::FunctionDecl* callee,
                                            llvm::ArrayRef<const Expr*> arguments) {
  const Operator* entry = find_operator(name);
  Arguments given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(arguments[i])) continue;
    const bool listed = entry && i < entry->arguments.size();
    given.push_back({listed ? entry->arguments[i] : "", value(arguments[i])});
  }
  const TypeFacts result = facts(callee->getReturnType());
  return result.kind == TypeKind::kNumber ? number(result.element) : builder_.op(name, std::move(given));
}

// What a function gives by address, such as cudaMalloc's memory, is as unknown as the function. A typed
// pointer still points to its type.
void FunctionLowering::written_by(const std::string& name, llvm::ArrayRef<const Expr*> arguments) {
  Arguments addresses;
  for (const Expr* each : arguments) {
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(stripped(stripped(each)->IgnoreParenCasts()));
    if (!address || address->getOpcode() != clang::UO_AddrOf) continue;
    const TypeKind kind = facts(address->getSubExpr()).kind;
    if (kind == TypeKind::kPointer) {
      assign(lvalue(address->getSubExpr()), builder_.unknown());
    } else if (kind != TypeKind::kBuffer) {
      addresses.push_back({"", value(each)});
    }
  }
  if (!addresses.empty()) builder_.op(name, std::move(addresses));
}

flow::ValueId FunctionLowering::external_call(const clang::FunctionDecl* callee,
                                              std::optional<ValueId> object,
                                              llvm::ArrayRef<const Expr*> arguments) {
  const std::string name = without_symint(plain_name(*callee));
  const std::string last = without_symint(callee->getIdentifier() ? callee->getName().str() : "");
  const Operator* entry = find_operator(name);
  const bool of_torch = name.starts_with("at::") || name.starts_with("torch::") || name.starts_with("c10::");
  // c10::Device::type is not Tensor::type.
  if (!entry && of_torch && !object && !last.empty()) entry = find_operator(last);
  if (entry && is_library_operator(*entry)) return library_operator(*entry, arguments);
  if (entry && !of_torch) {
    // std::exp and its kin work on numbers of their own type.
    const TypeFacts result = facts(callee->getReturnType());
    if (result.kind == TypeKind::kNumber) return number_function(arguments, result.element);
    for (const Expr* each : arguments) value(each);
    return builder_.unknown();
  }
  if (entry) {
    // torch::fft::fft is fft_fft: where the bare name is not the operator's, the table's is.
    return tensor_operator(entry, find_operator(last) == entry ? last : entry->name, callee, object,
                           arguments);
  }
  const TypeFacts result = facts(callee->getReturnType());
  // How often a set has a dtype is a question about it.
  const bool asks = std::any_of(arguments.begin(), arguments.end(),
                                [&](const Expr* each) { return facts(each).kind == TypeKind::kDtype; });
  if (result.kind == TypeKind::kNumber && result.element != Dtype::kBool && !of_torch && !asks) {
    if (const auto lanes = vector_function(callee, arguments)) return *lanes;
    written_by(name, arguments);
    return number_function(arguments, result.element);
  }
  if (const auto lanes = vector_function(callee, arguments)) return *lanes;
  return tensor_operator(nullptr, name, callee, object, arguments);
}

// Of another library than PyTorch: by position, and only what has a bearing on the result's dtype.
flow::ValueId FunctionLowering::library_operator(const Operator& entry,
                                                 llvm::ArrayRef<const Expr*> arguments) {
  Arguments given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ValueId one = value(arguments[i]);
    const std::string name = i < entry.arguments.size() ? entry.arguments[i] : "-";
    if (name != "-") given.push_back({name, one});
  }
  return builder_.op(entry.name, std::move(given));
}

flow::ValueId FunctionLowering::tensor_operator(const Operator* entry, const std::string& name,
                                                const clang::FunctionDecl* callee,
                                                std::optional<ValueId> object,
                                                llvm::ArrayRef<const Expr*> arguments) {
  Arguments given;
  std::size_t position_in_table = 0;
  const auto listed = [&](const std::string& argument) {
    return entry &&
           std::find(entry->arguments.begin(), entry->arguments.end(), argument) != entry->arguments.end();
  };
  // at:: and torch:: functions name their parameters as the operators' schemas do; torch::nn::functional does
  // not.
  const bool names_as_schema = callee && plain_name(*callee).find("::functional::") == std::string::npos;
  // A tensor by a name that the table does not have (linalg_qr's A, inner's other) is the table's at its
  // position, unless another parameter is that.
  const auto takes = [&](const std::string& argument) {
    return std::any_of(callee->param_begin(), callee->param_end(),
                       [&](const clang::ParmVarDecl* each) { return each->getName() == argument; });
  };
  const auto stands_for_another = [&](const std::string& written, TypeKind kind, std::size_t position) {
    if (!entry || !names_as_schema || listed(written) || position >= entry->arguments.size()) return false;
    const std::string& meant = entry->arguments[position];
    const bool shape = kind == TypeKind::kList && meant == "size";  // reshape's shape, repeat's repeats
    return (kind == TypeKind::kTensor || shape) && !takes(meant);
  };
  if (object) {
    given.push_back({"self", *object});
    ++position_in_table;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i, ++position_in_table) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(arguments[i])) continue;
    const auto index = static_cast<unsigned>(i);
    const bool known = callee && index < callee->getNumParams();
    const std::string written = known ? callee->getParamDecl(index)->getNameAsString() : "";
    TypeFacts type = facts(known ? callee->getParamDecl(index)->getType() : arguments[i]->getType());
    if (type.kind == TypeKind::kOptional && !type.inner.isNull()) type = facts(type.inner);
    if (type.kind == TypeKind::kOptionsBag) {
      options_bag(entry, arguments[i], given);
      continue;
    }
    std::string argument;
    if (carries_dtype(type.kind)) {
      argument = "dtype";
    } else if (stands_for_another(written, type.kind, position_in_table)) {
      argument = entry->arguments[position_in_table];
    } else if (!written.empty() && (listed(written) || names_as_schema)) {
      argument = written;
    } else if (entry && position_in_table < entry->arguments.size()) {
      argument = names_as_schema ? entry->arguments[position_in_table] : unclaimed(*entry, callee, given);
      if (argument.empty()) argument = entry->arguments[position_in_table];
    } else {
      argument = written;
    }
    given.push_back({argument, value(arguments[i])});
  }
  const auto results = callee ? tuple_elements(callee->getReturnType()) : std::vector<clang::QualType>();
  const bool of_tensors = std::all_of(results.begin(), results.end(), [&](clang::QualType each) {
    return facts(each).kind == TypeKind::kTensor;
  });
  if (!entry || results.size() < 2 || !of_tensors) return builder_.op(name, std::move(given));
  // Each result has an entry of its own, "max.1" after "max"; an out= variant returns what it was given.
  Arguments all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (entry->in_place && i < given.size()) {
      all.push_back({"", given[i].value});
    } else {
      all.push_back({"", builder_.op(i == 0 ? name : name + "." + std::to_string(i), given)});
    }
  }
  return builder_.value(Op::kPack, "", std::move(all));
}

// torch::nn::functional takes its options as a chain: NormalizeFuncOptions().dim(-1).
void FunctionLowering::options_bag(const Operator* entry, const Expr* expr, Arguments& arguments) {
  expr = stripped(expr);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr)) {
    if (made->getNumArgs() == 1 && facts(made->getArg(0)).kind == TypeKind::kOptionsBag)
      return options_bag(entry, made->getArg(0), arguments);
    for (unsigned i = 0; i < made->getNumArgs() && i < made->getConstructor()->getNumParams(); ++i) {
      const std::string option = made->getConstructor()->getParamDecl(i)->getNameAsString();
      const bool tensor = facts(made->getArg(i)).kind == TypeKind::kTensor;
      if (tensor && entry && lists(*entry, option)) arguments.push_back({option, value(made->getArg(i))});
    }
    return;
  }
  const auto* link = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr);
  if (llvm::isa<clang::DeclRefExpr>(expr) && entry && lists(*entry, "mode")) {
    arguments.push_back({"mode", builder_.unknown()});  // of options that were made elsewhere
  }
  if (!link || !link->getMethodDecl() || !link->getMethodDecl()->getIdentifier()) return;
  options_bag(entry, link->getImplicitObjectArgument(), arguments);
  const std::string option = link->getMethodDecl()->getName().str();
  if (link->getNumArgs() == 1 && ((entry && lists(*entry, option)) || option == "dtype")) {
    const std::string choice = choice_of(link->getArg(0));
    arguments.push_back({option, choice.empty() ? value(link->getArg(0)) : builder_.constant(choice)});
  }
}

}  // namespace dtype_guard::clang_front_end
