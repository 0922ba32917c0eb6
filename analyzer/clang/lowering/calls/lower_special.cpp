// Library functions that are known by name: standard helpers, TensorOptions makers, autocast and
// default-dtype switches.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "analyzer/clang/lowering/function_lowering.h"
#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

enum class Meaning : std::uint8_t {
  kSame,  // its first argument
  kGet,   // std::get
  kMake,  // constructs its first template argument from its arguments
  kPack,  // a tuple of its arguments
  kPackOfReferences,
  kSwap,
  kSmaller,
  kLarger,
  kClamp,
  kExchange,      // puts its second argument into the first and gives what was there
  kDtypeOptions,  // options with the dtype given, or with the template argument
  kTypesDtype,    // the dtype of the template argument
  kOtherOptions,  // options without a dtype
  kDefaultDtype,
  kGivenDefaultDtype,
  kTensorOf,  // torch::tensor(braces), at::tensor(numbers)
  kToDlpack,
  kFromDlpack,
  kCachedCast,
};

const std::unordered_map<std::string, Meaning>& meanings() {
  static const std::unordered_map<std::string, Meaning> kMeanings = {
      {"std::move", Meaning::kSame},
      {"std::forward", Meaning::kSame},
      {"std::as_const", Meaning::kSame},
      {"std::ref", Meaning::kSame},
      {"std::cref", Meaning::kSame},
      {"std::make_optional", Meaning::kSame},
      {"c10::make_optional", Meaning::kSame},
      {"std::data", Meaning::kSame},
      {"std::begin", Meaning::kSame},
      {"__builtin_expect", Meaning::kSame},
      {"detail::scalar_type", Meaning::kSame},  // what AT_DISPATCH_* switches on
      {"c10::scalarTypeToTypeMeta", Meaning::kSame},
      {"c10::typeMetaToScalarType", Meaning::kSame},
      {"c10::optTypeMetaToScalarType", Meaning::kSame},
      {"std::static_pointer_cast", Meaning::kSame},
      {"std::dynamic_pointer_cast", Meaning::kSame},
      {"std::get", Meaning::kGet},
      {"std::make_shared", Meaning::kMake},
      {"std::make_unique", Meaning::kMake},
      {"c10::make_intrusive", Meaning::kMake},
      {"std::make_tuple", Meaning::kPack},
      {"std::make_pair", Meaning::kPack},
      {"std::tie", Meaning::kPackOfReferences},
      {"std::forward_as_tuple", Meaning::kPackOfReferences},
      {"std::swap", Meaning::kSwap},
      {"std::exchange", Meaning::kExchange},
      {"std::min", Meaning::kSmaller},
      {"std::max", Meaning::kLarger},
      {"std::clamp", Meaning::kClamp},
      {"c10::dtype", Meaning::kDtypeOptions},
      {"at::dtype", Meaning::kDtypeOptions},
      {"torch::dtype", Meaning::kDtypeOptions},
      {"caffe2::TypeMeta::Make", Meaning::kTypesDtype},
      {"c10::device", Meaning::kOtherOptions},
      {"torch::device", Meaning::kOtherOptions},
      {"c10::layout", Meaning::kOtherOptions},
      {"torch::layout", Meaning::kOtherOptions},
      {"c10::requires_grad", Meaning::kOtherOptions},
      {"torch::requires_grad", Meaning::kOtherOptions},
      {"c10::memory_format", Meaning::kOtherOptions},
      {"torch::memory_format", Meaning::kOtherOptions},
      {"c10::set_default_dtype", Meaning::kDefaultDtype},
      {"at::set_default_dtype", Meaning::kDefaultDtype},
      {"torch::set_default_dtype", Meaning::kDefaultDtype},
      {"c10::get_default_dtype", Meaning::kGivenDefaultDtype},
      {"c10::get_default_dtype_as_scalartype", Meaning::kGivenDefaultDtype},
      {"at::get_default_dtype", Meaning::kGivenDefaultDtype},
      {"torch::get_default_dtype", Meaning::kGivenDefaultDtype},
      {"torch::tensor", Meaning::kTensorOf},
      {"at::tensor", Meaning::kTensorOf},
      {"at::native::get_nested_tensor_impl", Meaning::kSame},
      {"at::toDLPack", Meaning::kToDlpack},
      {"at::fromDLPack", Meaning::kFromDlpack},
      {"at::autocast::cached_cast", Meaning::kCachedCast},
  };
  return kMeanings;
}

struct AutocastSwitch {
  const char* device;
  bool of_dtype;
};
// Questions to at::autocast: which device (empty: the first argument names it) and what is asked.
const std::unordered_map<std::string, AutocastSwitch>& autocast_questions() {
  static const std::unordered_map<std::string, AutocastSwitch> kQuestions = {
      {"at::autocast::is_enabled", {"cuda", false}},
      {"at::autocast::is_cpu_enabled", {"cpu", false}},
      {"at::autocast::is_xpu_enabled", {"xpu", false}},
      {"at::autocast::is_mtia_enabled", {"mtia", false}},
      {"at::autocast::is_xla_enabled", {"xla", false}},
      {"at::autocast::is_hpu_enabled", {"hpu", false}},
      {"at::autocast::is_ipu_enabled", {"ipu", false}},
      {"at::autocast::is_privateuseone_enabled", {"privateuse1", false}},
      {"at::autocast::is_autocast_enabled", {"", false}},
      {"at::autocast::get_autocast_gpu_dtype", {"cuda", true}},
      {"at::autocast::get_autocast_cpu_dtype", {"cpu", true}},
      {"at::autocast::get_autocast_xpu_dtype", {"xpu", true}},
      {"at::autocast::get_autocast_mtia_dtype", {"mtia", true}},
      {"at::autocast::get_autocast_xla_dtype", {"xla", true}},
      {"at::autocast::get_autocast_hpu_dtype", {"hpu", true}},
      {"at::autocast::get_autocast_ipu_dtype", {"ipu", true}},
      {"at::autocast::get_autocast_privateuseone_dtype", {"privateuse1", true}},
      {"at::autocast::get_autocast_dtype", {"", true}},
  };
  return kQuestions;
}

// Switches of at::autocast, in the same way: what is set.
const std::unordered_map<std::string, AutocastSwitch>& autocast_switches() {
  static const std::unordered_map<std::string, AutocastSwitch> kSwitches = {
      {"at::autocast::set_enabled", {"cuda", false}},
      {"at::autocast::set_cpu_enabled", {"cpu", false}},
      {"at::autocast::set_xpu_enabled", {"xpu", false}},
      {"at::autocast::set_mtia_enabled", {"mtia", false}},
      {"at::autocast::set_xla_enabled", {"xla", false}},
      {"at::autocast::set_hpu_enabled", {"hpu", false}},
      {"at::autocast::set_ipu_enabled", {"ipu", false}},
      {"at::autocast::set_privateuseone_enabled", {"privateuse1", false}},
      {"at::autocast::set_autocast_enabled", {"", false}},
      {"at::autocast::set_autocast_gpu_dtype", {"cuda", true}},
      {"at::autocast::set_autocast_cpu_dtype", {"cpu", true}},
      {"at::autocast::set_autocast_xpu_dtype", {"xpu", true}},
      {"at::autocast::set_autocast_mtia_dtype", {"mtia", true}},
      {"at::autocast::set_autocast_xla_dtype", {"xla", true}},
      {"at::autocast::set_autocast_hpu_dtype", {"hpu", true}},
      {"at::autocast::set_autocast_ipu_dtype", {"ipu", true}},
      {"at::autocast::set_autocast_privateuseone_dtype", {"privateuse1", true}},
      {"at::autocast::set_autocast_dtype", {"", true}},
  };
  return kSwitches;
}

clang::QualType template_type(const clang::FunctionDecl* callee) {
  const auto* arguments = callee->getTemplateSpecializationArgs();
  if (!arguments || arguments->size() == 0) return {};
  const clang::TemplateArgument& first = arguments->get(0);
  return first.getKind() == clang::TemplateArgument::Type ? first.getAsType() : clang::QualType();
}

}  // namespace

// "cuda" for at::kCUDA.
std::string FunctionLowering::device_name(const Expr* expr) const {
  const auto number = integer(expr);
  const auto* type = stripped(expr)->getType()->getAs<clang::EnumType>();
  if (!number || !type) return {};
  for (const clang::EnumConstantDecl* each : type->getDecl()->getDefinition()->enumerators()) {
    if (each->getInitVal().getExtValue() != *number) continue;
    std::string name = each->getNameAsString();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }
  return {};
}

std::optional<flow::ValueId> FunctionLowering::autocast_function(const std::string& name,
                                                                 const clang::CallExpr* expr) {
  const auto asked = autocast_questions().find(name);
  if (asked != autocast_questions().end()) {
    std::string device = asked->second.device;
    if (device.empty() && expr->getNumArgs() > 0) device = device_name(expr->getArg(0));
    if (device.empty()) return std::nullopt;
    return builder_.op((asked->second.of_dtype ? "autocast_dtype::" : "autocast_enabled::") + device, {});
  }
  const auto found = autocast_switches().find(name);
  if (found == autocast_switches().end()) return std::nullopt;
  std::string device = found->second.device;
  unsigned index = 0;
  if (device.empty()) {
    if (expr->getNumArgs() < 2) return std::nullopt;
    device = device_name(expr->getArg(index++));
    if (device.empty()) {
      // It may be the one that is asked about, and may not.
      builder_.effect(Op::kSetAutocast, "", {{found->second.of_dtype ? "dtype" : "on", builder_.unknown()}});
      return ValueId{0};
    }
  }
  if (index >= expr->getNumArgs()) return std::nullopt;
  const ValueId setting = value(expr->getArg(index));
  builder_.effect(Op::kSetAutocast, device, {{found->second.of_dtype ? "dtype" : "on", setting}});
  return ValueId{0};
}

// torch::tensor({{1, 2}, {3, 4}}): a number for each brace that opens, from the first one inside.
std::optional<flow::ValueId> FunctionLowering::tensor_of(const clang::CallExpr* expr) {
  if (expr->getNumArgs() == 0) return std::nullopt;
  std::size_t dimensions = 0;
  const Expr* data = stripped(expr->getArg(0));
  while (true) {
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(data);
    const auto* list = llvm::dyn_cast<clang::InitListExpr>(data);
    const bool container = made && made->getNumArgs() == 1 && made->getType()->getAsCXXRecordDecl() &&
                           made->getType()->getAsCXXRecordDecl()->getName() == "TensorDataContainer";
    if (list) ++dimensions;
    const Expr* inner = container                         ? made->getArg(0)
                        : list && list->getNumInits() > 0 ? list->getInit(0)
                                                          : nullptr;
    if (!inner) break;
    data = stripped(inner);
  }
  const TypeFacts leaf = facts(data);
  const bool numbers = leaf.kind == TypeKind::kBuffer || leaf.kind == TypeKind::kList;
  if (!numbers && leaf.kind != TypeKind::kNumber) return std::nullopt;
  if (numbers && !llvm::isa<clang::InitListExpr>(data)) ++dimensions;
  const TypeFacts element = leaf.kind == TypeKind::kList && !leaf.inner.isNull() ? facts(leaf.inner) : leaf;
  if (element.element == Dtype::kUndefined) return std::nullopt;
  // at::tensor goes through an ArrayRef, so it has a dimension, and the dtype of the numbers' type; with
  // options it is a factory. torch::tensor gives Python's: integers are int64, floats the default dtype.
  const bool typed = plain_name(*expr->getDirectCallee()) == "at::tensor";
  const bool with_options = expr->getNumArgs() > 1 && !llvm::isa<clang::CXXDefaultArgExpr>(expr->getArg(1));
  constexpr std::array kAsInPython = {Dtype::kFloat32, Dtype::kFloat64, Dtype::kInt32, Dtype::kInt64,
                                      Dtype::kBool};
  const bool plain = std::find(kAsInPython.begin(), kAsInPython.end(), element.element) != kAsInPython.end();
  if (typed) dimensions = std::max<std::size_t>(dimensions, 1);
  const ValueId first = numbers ? number(element.element) : value(data);
  Arguments shape;
  for (std::size_t i = 0; i < dimensions; ++i) shape.push_back({"", number(Dtype::kInt64)});
  Arguments given;
  given.push_back({"size", builder_.value(Op::kPack, "", std::move(shape))});
  if (!typed || !with_options) given.push_back({"fill_value", first});
  if (with_options) {
    given.push_back({"dtype", value(expr->getArg(1))});
  } else if (typed || !plain) {
    given.push_back({"dtype", dtype_constant(element.element)});
  }
  return builder_.op(typed && with_options ? "zeros" : "full", std::move(given));
}

// min, max or clamp; of whole numbers, for what they are made of says where they can be.
std::optional<flow::ValueId> FunctionLowering::bounded(bool smaller, llvm::ArrayRef<const Expr*> arguments) {
  const bool whole = std::all_of(arguments.begin(), arguments.end(), [&](const Expr* each) {
    const TypeFacts type = facts(each);
    return type.kind == TypeKind::kNumber && !type.record && !is_floating(type.element);
  });
  if (!whole || arguments.size() < 2 || arguments.size() > 3) return std::nullopt;
  const auto of = [&](std::string_view name, ValueId a, const Expr* b) {
    return builder_.op(std::string(name), {{"self", a}, {"other", value(b)}});
  };
  const ValueId first = value(arguments[0]);
  if (arguments.size() == 2) return of(smaller ? kSmallerOf : kLargerOf, first, arguments[1]);
  return of(kSmallerOf, of(kLargerOf, first, arguments[1]), arguments[2]);
}

// What is there now, whatever is put there next.
flow::ValueId FunctionLowering::taken_out(const Expr* expr) {
  const Lvalue place = lvalue(expr);
  const ValueId now = load(place);
  const bool is_overwritten =
      place.is_value && facts(expr).kind == TypeKind::kObject && holds_values(facts(expr));
  return is_overwritten ? builder_.op("copy_of", {{"self", now}}) : now;
}

// An object that is known by identity takes over what the other holds.
void FunctionLowering::put_into(const Expr* target, ValueId put) {
  const Lvalue place = lvalue(target);
  if (place.is_value && facts(target).kind == TypeKind::kObject && holds_values(facts(target)))
    builder_.op("assign_object", {{"self", place.place.base}, {"other", put}});
  assign(place, put);
}

void FunctionLowering::swap(const Expr* left, const Expr* right) {
  const ValueId a = taken_out(left), b = taken_out(right);
  put_into(left, b);
  put_into(right, a);
}

// left.swap(right)
std::optional<flow::ValueId> FunctionLowering::exchanging_member(const Expr* object,
                                                                 const clang::CXXMethodDecl* method,
                                                                 llvm::ArrayRef<const Expr*> arguments) {
  if (!method->getIdentifier() || method->getName() != "swap" || arguments.size() != 1) return std::nullopt;
  const bool of_one_type = facts(object).record && facts(object).record == facts(arguments[0]).record;
  if (!method->getParent()->isInStdNamespace() || !of_one_type) return std::nullopt;
  swap(object, arguments[0]);
  return ValueId{0};
}

flow::ValueId FunctionLowering::pack_of_references(llvm::ArrayRef<const Expr*> arguments, bool is_kept) {
  Arguments cells;
  for (const Expr* each : arguments)
    cells.push_back({"", is_kept ? referred_to(each, each->getType()) : value(each)});
  return builder_.value(Op::kPack, "", std::move(cells));
}

// The dtype of the element type that a function template is called with.
std::optional<flow::ValueId> FunctionLowering::dtype_of_type(const clang::FunctionDecl* callee) {
  const Dtype dtype = facts(template_type(callee)).element;
  if (dtype == Dtype::kUndefined) return std::nullopt;
  return dtype_constant(dtype);
}

std::optional<flow::ValueId> FunctionLowering::special_function(const std::string& name,
                                                                const clang::CallExpr* expr,
                                                                const clang::FunctionDecl* callee) {
  if (const auto set = autocast_function(name, expr)) return set;
  const llvm::ArrayRef<const Expr*> arguments(expr->getArgs(), expr->getNumArgs());
  if (name.starts_with("at::check") && argument_check(name, arguments)) return ValueId{0};
  if (loads_module(name, arguments)) return ValueId{0};
  if (name.starts_with("torch::nn::init::") && !arguments.empty()) return value(arguments[0]);
  if (callee->isInStdNamespace() && callee->getIdentifier()) {
    if (const auto done = algorithm(callee->getName(), arguments)) return done;
    if (const auto done = variant_function(callee->getName(), callee, arguments)) return done;
  }
  if (const auto done = memory_function(name, arguments)) return done;
  if (const auto done = text_function(name, arguments)) return done;
  const auto found = meanings().find(name);
  if (found == meanings().end()) return std::nullopt;
  switch (found->second) {
    case Meaning::kSame:
      if (arguments.empty()) return std::nullopt;
      return value(arguments[0]);
    case Meaning::kGet: {
      if (arguments.empty() || !named_element(callee, arguments[0]->getType())) return std::nullopt;
      return load(lvalue(expr));
    }
    case Meaning::kMake:
      return template_type(callee).isNull() ? builder_.unknown()
                                            : construct_as(template_type(callee), arguments, nullptr);
    case Meaning::kPack:
      return pack(arguments);
    case Meaning::kPackOfReferences:  // of a tie that is not assigned to at once: that is part of the
                                      // assignment
      return pack_of_references(arguments, name == "std::tie");
    case Meaning::kSwap: {
      if (arguments.size() != 2) return std::nullopt;
      swap(arguments[0], arguments[1]);
      return ValueId{0};
    }
    case Meaning::kSmaller:
    case Meaning::kLarger:
    case Meaning::kClamp:
      return bounded(found->second == Meaning::kSmaller, arguments);
    case Meaning::kExchange: {
      if (arguments.size() != 2) return std::nullopt;
      const ValueId before = taken_out(arguments[0]);
      assignment(arguments[0], arguments[1]);
      return before;
    }
    case Meaning::kDtypeOptions: {
      const auto dtype = arguments.empty() ? dtype_of_type(callee) : value(arguments[0]);
      return dtype ? builder_.value(Op::kOptions, "", {{"dtype", *dtype}}) : builder_.unknown();
    }
    case Meaning::kTypesDtype: {
      const auto dtype = dtype_of_type(callee);
      return dtype ? *dtype : builder_.unknown();
    }
    case Meaning::kOtherOptions:
      return builder_.value(Op::kOptions, "", {});
    case Meaning::kDefaultDtype:
      builder_.effect(Op::kSetDefaultDtype, "", {{"", value(arguments[0])}});
      return ValueId{0};
    case Meaning::kGivenDefaultDtype:
      return builder_.op(std::string(flow::kDefaultDtype), {});
    case Meaning::kTensorOf:
      return tensor_of(expr);
    case Meaning::kToDlpack:
      return builder_.op("toDLPack", {{"self", value(arguments[0])}});
    case Meaning::kFromDlpack:
      return builder_.op("from_dlpack", {{"data", value(arguments[0])}});
    case Meaning::kCachedCast: {
      if (arguments.size() < 2) return std::nullopt;
      const ValueId dtype = value(arguments[0]);
      return builder_.op("to", {{"self", value(arguments[1])}, {"dtype", dtype}});
    }
  }
  return std::nullopt;
}

}  // namespace dtype_guard::clang_front_end
