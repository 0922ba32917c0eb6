// Classes: facts for objects that unseen code makes, and the implicit default constructor where it is
// unused.
#include <clang/AST/ASTContext.h>

#include <algorithm>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

namespace {

// As Clang declares it at its first use.
clang::CXXConstructorDecl* declared_constructor(clang::ASTContext& context, clang::CXXRecordDecl* record) {
#if LLVM_VERSION_MAJOR >= 22
  const clang::CanQualType type = context.getCanonicalTagType(record);
#else
  const clang::CanQualType type = context.getCanonicalType(context.getTypeDeclType(record));
#endif
  const clang::DeclarationNameInfo name(context.DeclarationNames.getCXXConstructorName(type),
                                        record->getLocation());
  auto* made = clang::CXXConstructorDecl::Create(context, record, record->getLocation(), name, {}, nullptr,
                                                 clang::ExplicitSpecifier(), false, true, true,
                                                 clang::ConstexprSpecKind::Unspecified);
  made->setType(context.getFunctionType(context.VoidTy, {}, clang::FunctionProtoType::ExtProtoInfo()));
  made->setAccess(clang::AS_public);
  made->setDefaulted();
  return made;
}

bool is_user_constructed(const clang::CXXRecordDecl& record) {
  return std::any_of(record.ctor_begin(), record.ctor_end(), [](const auto* each) {
    return each->isUserProvided() && !each->isCopyOrMoveConstructor();
  });
}

}  // namespace

const clang::CXXConstructorDecl* TranslationUnit::unused_constructor(const clang::CXXRecordDecl* record) {
  const clang::CXXRecordDecl* definition = record ? record->getDefinition() : nullptr;
  if (!definition || definition->isInvalidDecl() || definition->isLambda() || definition->isUnion() ||
      definition->isDependentContext() || !is_analysed(definition->getLocation()) ||
      definition->hasTrivialDefaultConstructor()) {
    return nullptr;
  }
  if (definition->needsImplicitDefaultConstructor()) {
    const clang::CXXConstructorDecl*& known = undeclared_constructors_[definition];
    if (!known) known = declared_constructor(context, const_cast<clang::CXXRecordDecl*>(definition));
    return known;
  }
  for (const clang::CXXConstructorDecl* each : definition->ctors()) {
    const bool unused = each->isDefaultConstructor() && each->isDefaulted() && !each->isDeleted() &&
                        !each->isInheritingConstructor() && !each->hasBody();
    if (unused) return each;
  }
  return nullptr;
}

// What the engine needs to know of a class besides its methods. Fields matter where no constructor of the
// project's sets them.
void FunctionLowering::note_class(const clang::CXXRecordDecl* record) const {
  const clang::CXXRecordDecl* definition = record ? record->getDefinition() : nullptr;
  if (!definition || definition->isLambda() || definition->isDependentContext()) return;
  if (!unit_.is_analysed(definition->getLocation())) return;
  flow::ClassFacts* facts = unit_.note_class(plain_name(*definition));
  if (!facts) return;
  for (const clang::CXXBaseSpecifier& base : definition->bases()) {
    const clang::CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl();
    if (!parent || !unit_.is_analysed(parent->getLocation())) continue;
    facts->bases.push_back(plain_name(*parent));
    note_class(parent);
  }
  const bool constructed = is_user_constructed(*definition);
  facts->local = unit_.is_local(definition->getLocation());
  note_settable(definition, constructed, *facts);
  note_owned(definition, *facts);
  note_setters(definition, *facts);
  if (facts->local) {
    for (const clang::CXXMethodDecl* each : definition->methods()) {
      const bool runs = each->isVirtual() && each->getIdentifier() && !each->isPureVirtual();
      if (runs && !each->isDeleted()) facts->virtuals.push_back(unit_.key(each));
    }
  }
  if (constructed || derives_from(*definition, "torch::nn::Module")) return;
  for (const clang::FieldDecl* member : definition->fields()) {
    const bool own = member->getAccess() != clang::AS_public && member->hasInClassInitializer();
    const flow::Parameter field = describe(member);
    const bool tensor = field.kind == ParameterKind::kTensor || field.kind == ParameterKind::kTensorList ||
                        field.kind == ParameterKind::kOptionalTensor;
    const bool object = field.kind == ParameterKind::kObject && unit_.notes_class(field.type);
    if (!own && (field.type.empty() ? tensor : object)) facts->fields.push_back(field);
  }
}

namespace {
// Whether the expression is a parameter, or std::move of one.
bool hands_on(const clang::Expr* expr) {
  const clang::Expr* inner = stripped(expr)->IgnoreParenImpCasts();
  const auto* move = llvm::dyn_cast<clang::CallExpr>(inner);
  if (move && move->isCallToStdMove()) return hands_on(move->getArg(0));
  const auto* copy = llvm::dyn_cast<clang::CXXConstructExpr>(inner);
  if (copy && copy->getNumArgs() == 1) return hands_on(copy->getArg(0));
  const auto* read = llvm::dyn_cast<clang::DeclRefExpr>(inner);
  return read && llvm::isa<clang::ParmVarDecl>(read->getDecl());
}

bool sets(const clang::CXXConstructorDecl* declared, const clang::FieldDecl& member) {
  const clang::FunctionDecl* body = nullptr;
  const auto* made = declared->hasBody(body) ? llvm::cast<clang::CXXConstructorDecl>(body) : declared;
  return std::any_of(made->init_begin(), made->init_end(), [&](const clang::CXXCtorInitializer* each) {
    return each->getAnyMember() == &member && hands_on(each->getInit());
  });
}

// Whether making an object requires a value for the member: an argument of each constructor, or one in
// braces. A string without a value is empty, which is a default like others.
bool is_told(const clang::FieldDecl& member, const clang::CXXRecordDecl& record) {
  if (record.isAggregate()) return !member.hasInClassInitializer() && member.getType()->isScalarType();
  bool told = false;
  for (const clang::CXXConstructorDecl* each : record.ctors()) {
    if (each->isCopyOrMoveConstructor() || each->isDeleted()) continue;
    if (!sets(each, member)) return false;
    told = true;
  }
  return told;
}
}  // namespace

// Plain values, and what may be absent at first where the class declares no constructor. A constant one can
// still be given in braces where there is no constructor. One that making the object requires is taken to be
// set later only by code that is seen.
void FunctionLowering::note_settable(const clang::CXXRecordDecl* record, bool constructed,
                                     flow::ClassFacts& noted) const {
  for (const clang::FieldDecl* member : record->fields()) {
    const TypeFacts type = facts(member->getType());
    const TypeKind kind = type.kind == TypeKind::kOptional ? facts(type.inner).kind : type.kind;
    const bool plain = kind == TypeKind::kDtype || kind == TypeKind::kNumber || kind == TypeKind::kOptions ||
                       kind == TypeKind::kScalar || is_text(member->getType());
    const bool absent = !constructed && (kind == TypeKind::kTensor || kind == TypeKind::kPointer);
    const bool constant = member->getType().isConstQualified() && !record->isAggregate();
    if ((!plain && !absent) || constant || member->getNameAsString().empty()) continue;
    flow::Parameter field = describe(member);
    field.by_reference = member->getAccess() == clang::AS_public && !is_told(*member, *record);
    noted.settable.push_back(std::move(field));
  }
}

// Tensors that code outside the class, or outside the file, cannot name and so cannot set.
void FunctionLowering::note_owned(const clang::CXXRecordDecl* record, flow::ClassFacts& noted) const {
  const bool nests = std::any_of(record->decls_begin(), record->decls_end(), [](const clang::Decl* each) {
    return llvm::isa<clang::CXXRecordDecl>(each) && !each->isImplicit();
  });
  const bool closed =
      !nests && !record->hasFriends() && !llvm::isa<clang::ClassTemplateSpecializationDecl>(record);
  for (const clang::FieldDecl* member : record->fields()) {
    const bool own = closed && member->getAccess() == clang::AS_private && !member->isMutable();
    if (facts(member->getType()).kind == TypeKind::kTensor && (noted.local || own))
      noted.owned.push_back(member->getNameAsString());
  }
}

void FunctionLowering::note_setters(const clang::CXXRecordDecl* record, flow::ClassFacts& noted) const {
  if (noted.settable.empty() && noted.owned.empty()) return;
  for (const clang::CXXMethodDecl* each : record->methods()) {
    const bool writes = !each->isConst() && !each->isImplicit() &&
                        !llvm::isa<clang::CXXConstructorDecl, clang::CXXDestructorDecl>(each);
    if (writes && !each->isDefaulted() && !each->isDeleted() && !each->hasInlineBody())
      noted.setters.push_back(unit_.key(each));
  }
}

// What Clang would write into the constructor: bases first, then members.
void FunctionLowering::default_initialisers(const clang::CXXRecordDecl* record) {
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    const clang::CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl();
    const clang::CXXRecordDecl* definition = parent ? parent->getDefinition() : nullptr;
    if (!definition) continue;
    const clang::FunctionDecl* callee = unit_.unused_constructor(definition);
    for (const clang::CXXConstructorDecl* each : definition->ctors()) {
      if (!callee && each->isDefaultConstructor()) callee = unit_.user_definition(each);
    }
    if (callee) user_call(callee, this_, {});
  }
  for (const clang::FieldDecl* member : record->fields()) {
    if (member->isUnnamedBitField()) continue;
    const flow::Place place = field(held(this_), member->getNameAsString()).place;
    if (const clang::Expr* init = member->getInClassInitializer()) {
      Builder::At here(builder_, position(stripped(init)));
      builder_.store(place, pass(init, member->getType()));
      continue;
    }
    // Clang instantiates some initialisers of a template only where they are used.
    const clang::CXXRecordDecl* type = member->getType()->getAsCXXRecordDecl();
    if (member->hasInClassInitializer() || !type) continue;
    if (facts(member->getType()).kind == TypeKind::kOther) continue;
    Builder::At here(builder_, unit_.position(function_->getNameInfo().getSourceRange()));
    builder_.store(place, construct_as(member->getType(), {}, nullptr));
  }
}

}  // namespace dtype_guard::clang_front_end
