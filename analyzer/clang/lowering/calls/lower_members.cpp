// Members of library classes: tensors, options, containers and nn modules.
#include <unordered_map>
#include <unordered_set>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

// Methods of a tensor that give the same tensor, or another handle on it, whatever its dtype.
const std::unordered_set<std::string>& same_tensor() {
  static const std::unordered_set<std::string> kNames = {
      "data",        "variable_data",   "tensor_data",        "requires_grad_", "set_requires_grad",
      "retain_grad", "getIntrusivePtr", "unsafeGetTensorImpl"};
  return kNames;
}

clang::QualType template_type(const clang::FunctionDecl* callee) {
  const auto* arguments = callee->getTemplateSpecializationArgs();
  if (!arguments || arguments->size() == 0) return {};
  const clang::TemplateArgument& first = arguments->get(0);
  return first.getKind() == clang::TemplateArgument::Type ? first.getAsType() : clang::QualType();
}

bool written(const Expr* argument) { return !llvm::isa<clang::CXXDefaultArgExpr>(argument); }

}  // namespace

std::optional<flow::ValueId> FunctionLowering::member(const TypeFacts& object_type, const Expr* object,
                                                      const clang::CXXMethodDecl* method,
                                                      llvm::ArrayRef<const Expr*> arguments) {
  const std::string name = method->getIdentifier() ? method->getName().str() : "";
  switch (object_type.kind) {
    case TypeKind::kTensor:
      return tensor_member(without_symint(name), object, method, arguments);
    case TypeKind::kOptions:
      return options_member(name, object, method, arguments);
    case TypeKind::kDtype:
      if (const Dtype asked = facts(template_type(method)).element;
          name == "Match" && asked != Dtype::kUndefined)
        return builder_.op("eq", {{"self", value(object)}, {"other", dtype_constant(asked)}});
      if (name == "itemsize") return builder_.op(name, {{"self", value(object)}});
      return name == "toScalarType" ? std::optional(value(object)) : std::nullopt;
    case TypeKind::kScalar:
    case TypeKind::kNumber: {
      const TypeFacts result = facts(method->getReturnType());
      value(object);
      return result.kind == TypeKind::kNumber ? number(result.element) : builder_.unknown();
    }
    case TypeKind::kOptional:
      if (name == "value") return load(lvalue(object));
      if (name == "has_value") return builder_.op("defined", {{"self", value(object)}});
      if (name == "value_or" && arguments.size() == 1) return value_or(object, arguments[0]);
      if (name == "reset") {
        assign(lvalue(object), builder_.none());
        return ValueId{0};
      }
      if (name == "emplace" && arguments.size() == 1) return assignment(object, arguments[0]);
      if (name == "emplace" && facts(object_type.inner).kind == TypeKind::kList) {
        const ValueId made = construct_as(object_type.inner, arguments, nullptr);
        assign(lvalue(object), made);
        return made;
      }
      return std::nullopt;
    case TypeKind::kList:
    case TypeKind::kBuffer:
      if (const auto listed = dictionary_member(method, object, arguments)) return *listed;
      return container_member(name, object, arguments);
    case TypeKind::kMap:
      return map_member(method, object, arguments);
    case TypeKind::kPointer:
      if (name == "reset") {
        assign(lvalue(object),
               arguments.empty() || !written(arguments[0]) ? builder_.none() : value(arguments[0]));
        return ValueId{0};
      }
      return name == "get" || name == "release" ? std::optional(load(lvalue(object))) : std::nullopt;
    case TypeKind::kHolder:
      if (name == "forward") return forward(method->getParent(), value(object), arguments);
      return name == "get" || name == "ptr" ? std::optional(load(lvalue(object))) : std::nullopt;
    case TypeKind::kOptionsBag:
      return builder_.unknown();
    case TypeKind::kLibraryModule:
    case TypeKind::kObject:
      if (name == "get_buffer" ||
          name == "get_unsafe_storage_as_tensor") {  // of a nested tensor: all its elements
        const bool nested = plain_name(*method->getParent()) == "at::native::NestedTensorImpl";
        if (nested) return builder_.op("flatten", {{"self", value(object)}});
      }
      if (const auto listed = module_list_member(method, object, arguments)) return *listed;
      if (const auto item = dictionary_member(method, object, arguments)) return *item;
      if (method->getParent() && derives_from(*method->getParent(), "torch::nn::Module")) {
        const bool own = plain_name(*method->getParent()) == "torch::nn::Module";
        if (own) return module_member(name, object, arguments);
        if (name == "forward") return forward(method->getParent(), value(object), arguments);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<flow::ValueId> FunctionLowering::tensor_member(const std::string& name, const Expr* object,
                                                             const clang::CXXMethodDecl* method,
                                                             llvm::ArrayRef<const Expr*> arguments) {
  if (name == "set_data" && arguments.size() == 1) {  // of the variable too, where nothing shares the tensor
    const ValueId data = value(arguments[0]);
    builder_.effect(Op::kRetype, "", {{"", address_of(object)}, {"", data}});
    return ValueId{0};
  }
  const ValueId self = value(object);
  if (name == "scalar_type" || name == "dtype") return builder_.value(Op::kDtypeOf, self);
  if (name == "options") {
    const ValueId dtype = builder_.value(Op::kDtypeOf, self);
    return builder_.value(Op::kOptions, "", {{"dtype", dtype}});
  }
  if (same_tensor().count(name)) return self;
  if (name == "to" || name == "toType") {
    Arguments given = {{"self", self}};
    for (std::size_t i = 0; i < arguments.size() && i < method->getNumParams(); ++i) {
      if (!written(arguments[i])) continue;
      TypeFacts type = facts(method->getParamDecl(static_cast<unsigned>(i))->getType());
      if (type.kind == TypeKind::kOptional && !type.inner.isNull()) type = facts(type.inner);
      if (type.kind == TypeKind::kDtype || type.kind == TypeKind::kOptions) {
        given.push_back({"dtype", value(arguments[i])});
      } else if (type.kind == TypeKind::kTensor) {
        given.push_back({"dtype", builder_.value(Op::kDtypeOf, value(arguments[i]))});
      }
    }
    return builder_.op("to", std::move(given));
  }
  if (const Dtype element = facts(template_type(method)).element;
      (name == "data_ptr" || name == "mutable_data_ptr" || name == "const_data_ptr") &&
      is_floating(element)) {
    return builder_.op("data_ptr", {{"self", self}, {"dtype", dtype_constant(element)}});
  }
  if (name == "item" && !template_type(method).isNull()) {
    const TypeFacts result = facts(method->getReturnType());
    if (result.kind == TypeKind::kNumber) return number(result.element);
  }
  if ((name == "size" || name == "sym_size") && arguments.size() == 1 &&
      facts(arguments[0]).kind == TypeKind::kNumber) {
    return builder_.op("size", {{"self", self}, {"dim", value(arguments[0])}});
  }
  if (find_operator("at::Tensor::" + name)) {
    return tensor_operator(find_operator("at::Tensor::" + name), name, method, self, arguments);
  }
  const TypeFacts result = facts(method->getReturnType());
  for (const Expr* each : arguments) value(each);
  if (result.kind == TypeKind::kNumber && !result.record && result.element == Dtype::kInt64 &&
      name != "dim" && name != "ndimension" && name != "element_size" && name != "get_device") {
    return number(result.element);
  }
  if (result.kind == TypeKind::kNumber) return builder_.op(name, {{"self", self}});
  return builder_.op("at::Tensor::" + name, {{"self", self}});
}

// A call that gives a tensor of another dtype and leaves the one it is called on as it is.
bool FunctionLowering::casts_tensor(const Expr* expr) const {
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(stripped(expr));
  const clang::CXXMethodDecl* method = call ? call->getMethodDecl() : nullptr;
  if (!method || !method->getIdentifier() || facts(expr).kind != TypeKind::kTensor) return false;
  if (facts(call->getImplicitObjectArgument()).kind != TypeKind::kTensor) return false;
  const std::string name = method->getName().str();
  const Operator* entry = find_operator("at::Tensor::" + name);
  return name == "to" || name == "toType" ||
         (entry && entry->result == ResultRule::kCast && !entry->in_place);
}

std::optional<flow::ValueId> FunctionLowering::options_member(const std::string& name, const Expr* object,
                                                              const clang::CXXMethodDecl* method,
                                                              llvm::ArrayRef<const Expr*> arguments) {
  if (name == "device") {  // of the tensor whose options they are
    const auto* asked = llvm::dyn_cast<clang::CXXMemberCallExpr>(stripped(object));
    const Expr* tensor = asked ? asked->getImplicitObjectArgument() : nullptr;
    if (tensor && facts(tensor).kind == TypeKind::kTensor)
      return builder_.op("at::Tensor::device", {{"self", value(tensor)}});
  }
  const ValueId self = value(object);
  if (name == "dtype" || name == "dtype_opt") {
    if (!arguments.empty()) return builder_.value(Op::kOptions, "", {{"dtype", value(arguments[0])}});
    const Dtype dtype = facts(template_type(method)).element;
    if (dtype != Dtype::kUndefined)
      return builder_.value(Op::kOptions, "", {{"dtype", dtype_constant(dtype)}});
    return builder_.value(Op::kDtypeOf, self);
  }
  if (name == "type_equal" && arguments.size() == 1) {  // and more than the dtype
    const ValueId other = builder_.value(Op::kDtypeOf, value(arguments[0]));
    const ValueId equal = builder_.op("eq", {{"self", builder_.value(Op::kDtypeOf, self)}, {"other", other}});
    return builder_.op("logical_and", {{"self", equal}, {"other", builder_.unknown()}});
  }
  if (facts(method->getReturnType()).kind == TypeKind::kOptions && name != "merge_in" &&
      name != "merge_memory_format") {
    return self;
  }
  return builder_.unknown();
}

// Whether the statement adds more than one element to that container.
bool FunctionLowering::grows_in_loop(const Expr* container) const {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(stripped(container));
  if (reference && reference->refersToEnclosingVariableOrCapture()) return true;
  const auto made = reference ? loop_of_.find(reference->getDecl()) : loop_of_.end();
  return breaks_.size() > (made == loop_of_.end() ? 0 : made->second);
}

// What a list is given is copied into it, or what its element is made of.
std::optional<flow::ValueId> FunctionLowering::new_element(const TypeFacts& list,
                                                           llvm::ArrayRef<const Expr*> arguments) {
  const TypeFacts element = list.inner.isNull() ? TypeFacts{} : facts(list.inner);
  const bool several = element.kind == TypeKind::kList || element.kind == TypeKind::kObject;
  const bool given = arguments.size() == 1 && (!several || facts(arguments[0]).kind == element.kind);
  if (given) return copied(arguments[0]);
  if (!several || arguments.empty()) return std::nullopt;
  if (element.kind == TypeKind::kList || has_one_constructor(element.record, arguments.size()))
    return construct_as(list.inner, arguments, nullptr);
  for (const Expr* each : arguments) value(each);
  return builder_.unknown();
}

std::optional<flow::ValueId> FunctionLowering::added_element(llvm::StringRef name, const Expr* list,
                                                             llvm::ArrayRef<const Expr*> arguments) {
  const std::optional<ValueId> added = new_element(facts(list), arguments);
  if (!added) return std::nullopt;
  Lvalue place = cell(lvalue(list), std::nullopt, list->getType());
  if (name != "push_front" && !place.is_element && !grows_in_loop(list)) {
    place.place.path.back().kind = Place::Step::Kind::kNextCell;
  }
  assign(place, *added);
  return added;
}

std::optional<flow::ValueId> FunctionLowering::container_member(const std::string& name, const Expr* object,
                                                                llvm::ArrayRef<const Expr*> arguments) {
  if (name == "push_back" || name == "emplace_back" || name == "push_front")
    return added_element(name, object, arguments);
  if (name == "clear") {
    const Lvalue place = lvalue(object);
    if (facts(object).kind == TypeKind::kList && !place.is_value) {
      builder_.store(place.place, builder_.value(Op::kPack, "", {}));
    }
    return ValueId{0};
  }
  static const std::unordered_set<std::string> kReorders = {
      "pop_back", "pop_front", "erase", "insert", "emplace", "assign", "swap", "merge", "splice"};
  if (name == "insert" && arguments.size() == 3 && end_of_list_is(arguments[0], object) &&
      (is_list_iterator(arguments[1]->getType()) || facts(arguments[1]).kind == TypeKind::kPointer)) {
    assign(some_element(object), load(elements_of(arguments[1], arguments[2]).element));
    return builder_.unknown();
  }
  if (kReorders.count(name) && facts(object).kind == TypeKind::kList) {
    for (const Expr* each : arguments) value(each);
    assign(cell(lvalue(object), std::nullopt, object->getType()), builder_.unknown());
    return builder_.unknown();
  }
  if (const auto end = end_of_list(name, object)) return *end;
  if (name == "data" || name == "begin" || name == "cbegin" || name == "get" || name == "release") {
    return load(lvalue(object));  // the buffer of a smart pointer too
  }
  if (name == "front") return load(cell(lvalue(object), 0, object->getType()));
  if (name == "at" || name == "back") {
    return load(cell_of(object, arguments.empty() ? nullptr : arguments[0]));
  }
  if (name == "vec") return load(lvalue(object));
  if (name == "size" || name == "empty") {
    const clang::CXXRecordDecl* list = object->getType().getNonReferenceType()->getAsCXXRecordDecl();
    const bool sizes = list && list->getIdentifier() && list->getName().ends_with("ArrayRef");
    const bool counted = sizes || facts(object).kind == TypeKind::kList;
    if (!counted) return name == "size" ? number(Dtype::kInt64) : builder_.unknown();
    const ValueId self = value(object);
    // Of a tensor's sizes, that is how many dimensions it has.
    const ValueId count = builder_.op(sizes ? "length" : "size", {{"self", self}});
    return name == "size" ? count : builder_.op("eq", {{"self", count}, {"other", builder_.constant(0)}});
  }
  for (const Expr* each : arguments) value(each);
  return builder_.unknown();
}

std::optional<flow::ValueId> FunctionLowering::module_member(const std::string& name, const Expr* object,
                                                             llvm::ArrayRef<const Expr*> arguments) {
  const ValueId self = value(object);
  if (name == "as") return self;
  const std::string kind = name.starts_with("register_") ? name.substr(9) : "";
  if ((kind == "parameter" || kind == "buffer" || kind == "module") && arguments.size() >= 2) {
    const auto* text = llvm::dyn_cast<clang::StringLiteral>(stripped(arguments[0]));
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(stripped(arguments[0]));
        made && made->getNumArgs()) {
      text = llvm::dyn_cast<clang::StringLiteral>(stripped(made->getArg(0)));
    }
    const ValueId registered = value(arguments[1]);
    return builder_.registration(kind, self, text ? text->getString().str() : "", registered);
  }
  if (name == "to") {
    for (const Expr* each : arguments) {
      if (!written(each) || facts(each).kind != TypeKind::kDtype) continue;
      const ValueId dtype = value(each);
      builder_.effect(Op::kRetype, "", {{"", self}, {"", dtype}});
    }
    return ValueId{0};
  }
  if (const auto parts = module_parts(name, self, arguments)) return *parts;
  if (name == "apply" && !arguments.empty()) {
    apply_to_modules(self, arguments[0]);
    return ValueId{0};
  }
  for (const Expr* each : arguments) value(each);
  if (name == "load" || name == "replace_module") forget_dtypes(self);
  return builder_.unknown();
}

flow::ValueId FunctionLowering::forward(const clang::CXXRecordDecl* module, ValueId object,
                                        llvm::ArrayRef<const Expr*> arguments) {
  const clang::CXXRecordDecl* definition = module ? module->getDefinition() : nullptr;
  if (definition) {
    for (const clang::CXXMethodDecl* each : definition->methods()) {
      if (!each->getIdentifier() || each->getName() != "forward") continue;
      if (arguments.size() < each->getMinRequiredArguments() || arguments.size() > each->getNumParams())
        continue;
      if (is_dispatched(each) && unit_.is_user_function(each))
        return user_call(each, object, arguments, true);
      const clang::FunctionDecl* body = unit_.user_definition(each);
      if (body) return user_call(body, object, arguments);
      if (unit_.is_user_function(each)) return user_call(each, object, arguments);
    }
  }
  std::string name = module ? plain_name(*module) : "";
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  Arguments given = {{"", object}};
  for (const Expr* each : arguments) {
    if (written(each)) given.push_back({"", value(each)});
  }
  return builder_.op(name + "::forward", std::move(given));
}

flow::ValueId FunctionLowering::value_or(const Expr* object, const Expr* fallback) {
  const ValueId present = value(object);
  const ValueId known = builder_.op("defined", {{"self", present}});
  const BlockId yes = builder_.block(), no = builder_.block(), after = builder_.block();
  builder_.branch(known, yes, no);
  builder_.enter(no);
  const ValueId other = value(fallback);
  builder_.jump(after);
  builder_.enter(yes);
  const ValueId own =
      builder_.value(Op::kCopy, "", {{"", present}});  // of which is known here that it is there
  builder_.jump(after);
  builder_.enter(after);
  return builder_.value(Op::kPhi, "", {{"", own}, {"", other}});
}

}  // namespace dtype_guard::clang_front_end
