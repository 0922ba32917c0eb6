// Construction: what a constructor call, a braced list or `new` makes.
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <array>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

bool takes(const clang::CXXConstructorDecl* constructor, std::size_t arguments) {
  if (constructor->isCopyOrMoveConstructor() || constructor->isDeleted()) return false;
  return constructor->getMinRequiredArguments() <= arguments && arguments <= constructor->getNumParams();
}

// The constructor that perfect forwarding (ModuleHolder, make_shared) would pick: the first that takes this
// many arguments; the library's own code, which would tell, is not parsed.
const clang::CXXConstructorDecl* constructor_for(const clang::CXXRecordDecl* record, std::size_t arguments) {
  const clang::CXXRecordDecl* definition = record ? record->getDefinition() : nullptr;
  if (!definition) return nullptr;
  for (const clang::CXXConstructorDecl* each : definition->ctors()) {
    if (takes(each, arguments)) return each;
  }
  return nullptr;
}

bool is_null(const Expr* expr) {
  expr = stripped(expr);
  if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(expr)) return true;
  const clang::CXXRecordDecl* record = expr->getType()->getAsCXXRecordDecl();
  return record && record->getName() == "nullopt_t";
}

std::string module_name(const clang::CXXRecordDecl* record) {
  std::string name = plain_name(*record);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

}  // namespace

flow::ValueId FunctionLowering::allocate(const std::string& kind, Dtype element) {
  const ValueId dtype = dtype_constant(element);
  return builder_.value(Op::kAlloc, kind, {{"dtype", dtype}});
}

flow::ValueId FunctionLowering::pack(llvm::ArrayRef<const Expr*> elements) {
  Arguments cells;
  for (const Expr* each : elements) cells.push_back({"", copied(each)});
  return builder_.value(Op::kPack, "", std::move(cells));
}

flow::ValueId FunctionLowering::zero(clang::QualType type) {
  const TypeFacts made = facts(type);
  switch (made.kind) {
    case TypeKind::kNumber:
      if (made.element == Dtype::kBool) return builder_.constant(false);
      if (is_floating(made.element)) return number(made.element);
      return builder_.constant(std::int64_t{0});
    case TypeKind::kBuffer:
      return type->isPointerType() ? builder_.none() : allocate("array", made.element);
    case TypeKind::kList:
    case TypeKind::kMap:
      return builder_.value(Op::kPack, "", {});
    case TypeKind::kObject:
      if (is_text(type)) return builder_.constant(std::string());
      return builder_.value(Op::kObject, plain_name(*made.record), {});
    case TypeKind::kTensor:
    case TypeKind::kOptional:
    case TypeKind::kPointer:
      return builder_.none();
    case TypeKind::kOptions:
      return builder_.value(Op::kOptions, "", {});
    default:
      return builder_.unknown();
  }
}

flow::ValueId FunctionLowering::construct(const clang::CXXConstructExpr* expr) {
  return construct_as(expr->getType(), llvm::ArrayRef<const Expr*>(expr->getArgs(), expr->getNumArgs()),
                      expr->getConstructor());
}

flow::ValueId FunctionLowering::number_from(const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments,
                                            const clang::CXXConstructorDecl* constructor, bool copies) {
  if (arguments.size() != 1) return number(made.element);
  const TypeFacts from = facts(arguments[0]);
  const ValueId source = value(arguments[0]);
  if (copies || from.kind != TypeKind::kNumber || from.element == made.element) return source;
  const bool written = constructor && constructor->isExplicit();
  return number_as(source, from.element, made.element, !written);
}

flow::ValueId FunctionLowering::options_from(llvm::ArrayRef<const Expr*> arguments) {
  if (arguments.empty() || facts(arguments[0]).kind != TypeKind::kDtype)
    return builder_.value(Op::kOptions, "", {});
  const ValueId dtype = value(arguments[0]);
  return builder_.value(Op::kOptions, "", {{"dtype", dtype}});
}

flow::ValueId FunctionLowering::list_from(clang::QualType type, const TypeFacts& made,
                                          llvm::ArrayRef<const Expr*> arguments, bool copies) {
  if (arguments.size() == 1) {
    if (const auto variant = as_variant(type, arguments[0])) return *variant;
    const TypeKind from = facts(arguments[0]).kind;
    const bool list = from == TypeKind::kList || from == TypeKind::kOptional ||
                      llvm::isa<clang::InitListExpr>(stripped(arguments[0]));
    if (copies) return copied(arguments[0]);
    if (list) return value(arguments[0]);
  }
  if (const auto part = list_of_elements(arguments)) return *part;
  if (made.record && plain_name(*made.record) == "std::vector" && !arguments.empty() &&
      facts(arguments[0]).kind == TypeKind::kNumber) {  // vector(count, element)
    value(arguments[0]);
    return pack(arguments.drop_front());
  }
  return pack(arguments);
}

flow::ValueId FunctionLowering::buffer_from(const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments,
                                            bool copies) {
  if (made.record && made.record->getName().ends_with("_ptr")) {  // what it is given, or nothing
    const bool holds = !arguments.empty() && facts(arguments[0]).kind == TypeKind::kBuffer;
    return holds ? value(arguments[0]) : builder_.none();
  }
  const ValueId first = arguments.size() == 1 ? value(arguments[0]) : 0;
  if (copies && first) return builder_.value(Op::kCopy, first);
  const ValueId buffer = allocate(made.record ? made.record->getName().str() : "array", made.element);
  if (arguments.size() < 2 || facts(arguments[0]).kind != TypeKind::kBuffer) return buffer;
  const Lvalue element = cell(lvalue(arguments[0]), std::nullopt, arguments[0]->getType());  // (first, last)
  ValueId copied = load(element);
  if (facts(arguments[0]).element != made.element)
    copied = number_as(copied, facts(arguments[0]).element, made.element, true);
  builder_.effect(Op::kWrite, "", {{"", buffer}, {"", copied}});
  return buffer;
}

flow::ValueId FunctionLowering::holder_from(const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments,
                                            const clang::CXXConstructorDecl* constructor) {
  if (arguments.size() == 1) {
    if (is_null(arguments[0])) return builder_.none();
    const TypeKind from = facts(arguments[0]).kind;
    if (from == TypeKind::kPointer || from == TypeKind::kHolder) return value(arguments[0]);
  }
  if (makes_held(constructor) && unit_.is_user_function(constructor))
    return user_call(constructor, std::nullopt, arguments);
  return construct_as(made.inner, arguments, nullptr);
}

flow::ValueId FunctionLowering::construct_as(clang::QualType type, llvm::ArrayRef<const Expr*> arguments,
                                             const clang::CXXConstructorDecl* constructor) {
  const TypeFacts made = facts(type);
  while (!arguments.empty() && llvm::isa<clang::CXXDefaultArgExpr>(arguments.back()))
    arguments = arguments.drop_back();
  const bool copies = arguments.size() == 1 && facts(arguments[0]).record && made.record &&
                      facts(arguments[0]).record == made.record;
  if (arguments.size() == 1 && is_map_iterator(type) && is_map_iterator(arguments[0]->getType()))
    return value(arguments[0]);
  switch (made.kind) {
    case TypeKind::kNumber:
      return number_from(made, arguments, constructor, copies);
    case TypeKind::kTensor:
    case TypeKind::kDtype:
      return arguments.empty() ? builder_.none() : value(arguments[0]);
    case TypeKind::kScalar:
      return arguments.empty() ? builder_.unknown() : scalar_of(arguments[0]);
    case TypeKind::kOptions:
      return copies ? value(arguments[0]) : options_from(arguments);
    case TypeKind::kOptional:
    case TypeKind::kPointer:
      if (arguments.empty() || is_null(arguments[0])) return builder_.none();
      if (made.record && plain_name(*made.record) == "std::reference_wrapper" && !copies)
        return referred_to(arguments[0], made.inner);
      return made.kind == TypeKind::kOptional ? copied(arguments[0]) : value(arguments[0]);
    case TypeKind::kList:
      return list_from(type, made, arguments, copies);
    case TypeKind::kMap: {
      if (copies) return copied(arguments[0]);
      const auto keyed = map_of(arguments);
      return keyed ? *keyed : builder_.unknown();
    }
    case TypeKind::kBuffer:
      return buffer_from(made, arguments, copies);
    case TypeKind::kHolder:
      return copies ? value(arguments[0]) : holder_from(made, arguments, constructor);
    case TypeKind::kLibraryModule:
      return library_module(made.record, arguments);
    case TypeKind::kOptionsBag:
      return builder_.unknown();
    case TypeKind::kClosure:
      return arguments.empty() ? builder_.none() : value(arguments[0]);
    case TypeKind::kObject:
      if (plain_name(*made.record) == "c10::impl::ExcludeDispatchKeyGuard")
        return guard(made.record, arguments);
      if (copies && (!constructor || constructor->isImplicit() || constructor->isDefaulted())) {
        return copied(arguments[0]);
      }
      if (is_text(type)) {
        if (const auto text = made_text(arguments)) return *text;
      }
      return object(made.record, arguments, constructor);
    default:
      for (const Expr* each : arguments) value(each);
      return builder_.unknown();
  }
}

// A reference in an object escapes with it and can be written through: what it refers to is unknown from here
// on.
ValueId FunctionLowering::referred_to(const Expr* expr, clang::QualType type) {
  const ValueId now = value(expr);
  const bool rebinds = !type.isNull() && !type.isConstQualified() && stripped(expr)->isLValue() &&
                       is_rebindable_reference(unit_.context.getLValueReferenceType(type));
  if (rebinds) builder_.op("std::reference_wrapper", {{"", address_of(expr)}});
  return now;
}

// Of several that take as many arguments, the library's code would tell which is meant.
bool FunctionLowering::has_one_constructor(const clang::CXXRecordDecl* record, std::size_t arguments) {
  const clang::CXXRecordDecl* definition = record ? record->getDefinition() : nullptr;
  return definition && std::count_if(definition->ctor_begin(), definition->ctor_end(),
                                     [&](const auto* each) { return takes(each, arguments); }) == 1;
}

bool FunctionLowering::holds_values(const TypeFacts& type) const {
  if (!type.record) return false;
  if (type.kind == TypeKind::kOptional && !type.inner.isNull()) return holds_values(facts(type.inner));
  if (type.kind == TypeKind::kMap) return true;
  if (type.kind == TypeKind::kList) {
    static constexpr std::array kContainers = {"std::vector",  "std::array",      "std::deque",
                                               "std::list",    "std::tuple",      "std::pair",
                                               "std::variant", "c10::SmallVector"};
    return std::find(kContainers.begin(), kContainers.end(), plain_name(*type.record)) != kContainers.end();
  }
  const clang::CXXRecordDecl* definition = type.record->getDefinition();
  if (type.kind != TypeKind::kObject || !definition || derives_from(*definition, "torch::nn::Module"))
    return false;
  return definition->isAggregate() || unit_.is_user_code(definition->getLocation());
}

flow::ValueId FunctionLowering::copied(const Expr* source) {
  const ValueId original = value(source);
  const Expr* plain = stripped(source);
  if (!plain->isLValue() || !holds_values(facts(plain))) return original;  // a temporary has no other use
  return builder_.op("copy_of", {{"self", original}});
}

// dtype.code = kDLFloat and dtype.bits = 16, one after the other, say together which dtype it is.
std::optional<flow::ValueId> FunctionLowering::descriptor_part(const clang::MemberExpr* part,
                                                               const Expr* source) {
  const clang::CXXRecordDecl* owner = part->getBase()->getType()->getAsCXXRecordDecl();
  if (part->isArrow()) owner = part->getBase()->getType()->getPointeeCXXRecordDecl();
  if (!owner || plain_name(*owner) != "DLDataType") return std::nullopt;
  const std::string field = part->getMemberDecl()->getNameAsString();
  const ValueId assigned = number_of(source);
  if (field != "code" && field != "bits") return assigned;
  const Lvalue whole =
      part->isArrow() ? Lvalue{{0, value(part->getBase()), {}}, false, false} : lvalue(part->getBase());
  DescriptorPart& known = descriptors_[position(part->getBase()).text];
  if (known.block != builder_.current()) known = {builder_.current(), 0, 0};
  (field == "code" ? known.code : known.bits) = assigned;
  const bool whole_is_known = known.code != 0 && known.bits != 0;
  assign(whole, whole_is_known ? builder_.op("descriptor_dtype", {{"code", known.code}, {"bits", known.bits}})
                               : builder_.unknown());
  return assigned;
}

flow::ValueId FunctionLowering::number_of(const Expr* source) {
  const auto constant = integer(source);
  return constant ? builder_.constant(*constant) : value(source);
}

flow::ValueId FunctionLowering::object(const clang::CXXRecordDecl* record,
                                       llvm::ArrayRef<const Expr*> arguments,
                                       const clang::CXXConstructorDecl* constructor) {
  const ValueId made = builder_.value(Op::kObject, plain_name(*record), {});
  if (record->getDefinition() && record->getDefinition()->isPolymorphic()) note_class(record);
  if (!constructor) constructor = constructor_for(record, arguments.size());
  const auto* unused = arguments.empty() ? unit_.unused_constructor(record) : nullptr;
  if (unused && (!constructor || constructor->getCanonicalDecl() == unused->getCanonicalDecl())) {
    user_call(unused, made, arguments);
    return made;
  }
  const clang::FunctionDecl* callee = unit_.user_definition(constructor);
  if (callee && !(constructor->isTrivial() && constructor->isDefaulted())) {
    user_call(callee, made, arguments);
  } else if (constructor && unit_.is_user_function(constructor) && !constructor->isImplicit()) {
    user_call(constructor, made, arguments);  // defined in another file
  } else {
    for (const Expr* each : arguments) value(each);
  }
  return made;
}

// ExcludeDispatchKeyGuard switches autocast off until the end of its scope.
flow::ValueId FunctionLowering::guard(const clang::CXXRecordDecl* record,
                                      llvm::ArrayRef<const Expr*> arguments) {
  std::string excluded;
  if (!arguments.empty()) {
    const clang::SourceManager& sources = unit_.context.getSourceManager();
    excluded = clang::Lexer::getSourceText(sources.getExpansionRange(arguments[0]->getSourceRange()), sources,
                                           unit_.context.getLangOpts())
                   .str();
  }
  if (excluded.find("utocast") != std::string::npos) {
    pending_restore_ = builder_.value(Op::kSaveState, "", {});
    const ValueId off = builder_.constant(false);
    const bool cpu = excluded.find("AutocastCPU") != std::string::npos;
    const bool cuda = excluded.find("AutocastCUDA") != std::string::npos;
    if (cpu || !cuda) builder_.effect(Op::kSetAutocast, "cpu", {{"on", off}});
    if (cuda || !cpu) builder_.effect(Op::kSetAutocast, "cuda", {{"on", off}});
  }
  return builder_.value(Op::kObject, plain_name(*record), {});
}

flow::ValueId FunctionLowering::library_module(const clang::CXXRecordDecl* record,
                                               llvm::ArrayRef<const Expr*> arguments) {
  if (is_module_list(record)) return module_list(record, arguments);
  Arguments given;
  for (const Expr* each : arguments) {
    if (!llvm::isa<clang::CXXDefaultArgExpr>(each)) given.push_back({"", value(each)});
  }
  return builder_.value(Op::kModule, module_name(record), std::move(given));
}

flow::ValueId FunctionLowering::init_list(const clang::InitListExpr* expr) {
  if (const clang::InitListExpr* semantic = expr->getSemanticForm()) expr = semantic;
  const TypeFacts made = facts(expr);
  if (made.record && plain_name(*made.record) == "DLDataType") {
    const auto part = [&](unsigned i) {
      return i < expr->getNumInits() ? integer(expr->getInit(i)) : std::nullopt;
    };
    const auto code = part(0), width = part(1), lanes = part(2);
    if (lanes && *lanes == 1 && (!code || !width)) {
      const ValueId kind = number_of(expr->getInit(0));
      return builder_.op("descriptor_dtype", {{"code", kind}, {"bits", number_of(expr->getInit(1))}});
    }
    if (!code || !width || !lanes) return builder_.unknown();
    const auto dtype = from_dlpack({static_cast<std::uint8_t>(*code), static_cast<std::uint8_t>(*width),
                                    static_cast<std::uint16_t>(*lanes)});
    return dtype ? dtype_constant(*dtype) : builder_.unknown();
  }
  if (made.kind == TypeKind::kObject) return aggregate(expr, made.record);
  if (made.kind == TypeKind::kBuffer) {
    const ValueId buffer = allocate("array", made.element);
    return buffer;
  }
  if (made.kind == TypeKind::kList) {
    // std::array{a, b} holds one array that holds them.
    const auto* whole =
        expr->getNumInits() == 1 ? llvm::dyn_cast<clang::InitListExpr>(expr->getInit(0)) : nullptr;
    if (whole && made.record && whole->getType()->isArrayType()) return init_list(whole);
    return pack(llvm::ArrayRef<const Expr*>(expr->getInits(), expr->getNumInits()));
  }
  if (expr->getNumInits() == 1) return value(expr->getInit(0));
  return zero(expr->getType());
}

flow::ValueId FunctionLowering::aggregate(const clang::InitListExpr* expr,
                                          const clang::CXXRecordDecl* record) {
  const ValueId made = builder_.value(Op::kObject, plain_name(*record), {});
  unsigned index = record->getNumBases();
  for (const clang::FieldDecl* member : record->fields()) {
    if (member->isUnnamedBitField()) continue;
    if (index >= expr->getNumInits()) break;
    const Expr* init = expr->getInit(index++);
    // Fields without an initialiser need no instruction, save those that may be absent.
    const TypeKind kind = facts(member->getType()).kind;
    const bool implicit = llvm::isa<clang::ImplicitValueInitExpr>(init);
    if (implicit && kind != TypeKind::kTensor && kind != TypeKind::kOptional) continue;
    const ValueId initial = pass(init, member->getType());
    builder_.store(field(held(made), member->getNameAsString()).place, initial);
  }
  return made;
}

flow::ValueId FunctionLowering::new_expression(const clang::CXXNewExpr* expr) {
  const clang::QualType type = expr->getAllocatedType();
  const TypeFacts made = facts(type);
  if (made.kind == TypeKind::kNumber && is_floating(made.element)) return allocate("new", made.element);
  if (expr->isArray()) return builder_.value(Op::kPack, "", {});
  return expr->getInitializer() ? value(expr->getInitializer()) : zero(type);
}

}  // namespace dtype_guard::clang_front_end
