// What torch::nn::Module says of its parts: parameters(), named_buffers(), children(), modules() give lists
// of them, apply() runs a function on each module. load() and replace_module() leave them unknown.
#include <algorithm>
#include <array>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {
constexpr std::string_view kDictionary = "torch::OrderedDict";

bool is_one_of(llvm::StringRef name, std::initializer_list<llvm::StringRef> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What std::function was made of.
const Expr* wrapped_function(const Expr* expr) {
  expr = stripped(expr);
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
  if (!made || made->getNumArgs() == 0 || plain_name(*made->getConstructor()->getParent()) != "std::function")
    return expr;
  return wrapped_function(made->getArg(0));
}

// Of a std::function's type.
unsigned parameters_of(clang::QualType type) {
  const auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
      type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!record || record->getTemplateArgs().size() == 0) return 0;
  const clang::TemplateArgument& first = record->getTemplateArgs().get(0);
  if (first.getKind() != clang::TemplateArgument::Type) return 0;
  const auto* signature = first.getAsType()->getAs<clang::FunctionProtoType>();
  return signature ? signature->getNumParams() : 0;
}
}  // namespace

bool is_dictionary_item(const clang::CXXRecordDecl* record) {
  if (!record || !record->getIdentifier() || record->getName() != "Item") return false;
  const auto* owner = llvm::dyn_cast<clang::CXXRecordDecl>(record->getDeclContext());
  return owner && plain_name(*owner) == kDictionary;
}

std::optional<ValueId> FunctionLowering::module_parts(llvm::StringRef name, ValueId self,
                                                      llvm::ArrayRef<const Expr*> arguments) {
  name.consume_front("named_");
  if (!is_one_of(name, {"parameters", "buffers", "children", "modules"})) return std::nullopt;
  Arguments given = {{"self", self}};
  for (const Expr* each : arguments) {
    const bool flag = facts(each).kind == TypeKind::kNumber;  // the other one is a name
    if (flag && !llvm::isa<clang::CXXDefaultArgExpr>(each)) given.push_back({"flag", value(each)});
  }
  return builder_.op(name.str(), std::move(given));
}

// apply(f): with each module, after its name where f takes two.
void FunctionLowering::apply_to_modules(ValueId self, const Expr* function) {
  const bool named = parameters_of(function->getType()) == 2;
  const Expr* wrapped = wrapped_function(function);
  const ValueId all = builder_.op("modules", {{"self", self}});
  const ValueId object = value(wrapped);
  std::vector<Lvalue> given;
  if (named) given.push_back(held(builder_.unknown()));
  given.push_back(cell(held(all), std::nullopt, {}));
  for_elements([&] { applied(wrapped, object, given); });
}

// What is read from a file has the dtype that it was written in.
void FunctionLowering::forget_dtypes(ValueId module) {
  builder_.effect(Op::kRetype, "", {{"", module}, {"", builder_.unknown()}});
}

// torch::load(module, file)
bool FunctionLowering::loads_module(const std::string& name, llvm::ArrayRef<const Expr*> arguments) {
  if (name != "torch::load" || arguments.empty() || !is_module(facts(stripped(arguments[0])))) return false;
  for (const Expr* each : arguments.drop_front(1)) value(each);
  forget_dtypes(value(arguments[0]));
  return true;
}

// Of OrderedDict, which is a list of items, each of which is what it holds.
std::optional<ValueId> FunctionLowering::dictionary_member(const clang::CXXMethodDecl* method,
                                                           const Expr* object,
                                                           llvm::ArrayRef<const Expr*> arguments) {
  if (!method->getIdentifier()) return std::nullopt;
  const llvm::StringRef name = method->getName();
  if (is_dictionary_item(method->getParent()) && is_one_of(name, {"value", "pair"})) return value(object);
  if (plain_name(*method->getParent()) != kDictionary) return std::nullopt;
  if (is_one_of(name, {"values", "items", "pairs", "begin", "end"})) return value(object);
  if (is_one_of(name, {"find", "front", "back"}))
    return load(cell_of(object, arguments.empty() ? nullptr : arguments[0]));
  return std::nullopt;
}

}  // namespace dtype_guard::clang_front_end
