// Short vectors of numbers, such as __half2 and float4: what converts them, what makes them of numbers, and
// what is stored through pointers to them. Such a pointer is no typed buffer, for code moves bytes of any
// type by it: it leads to the buffer that it was cast from.
#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {
constexpr unsigned kMaxLanes = 8;

const Expr* pointer_of(const Expr* place) {
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place)) return element->getBase();
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(place);
  return unary && unary->getOpcode() == clang::UO_Deref ? unary->getSubExpr() : nullptr;
}
}  // namespace

// The floating type that all fields of a plain class have; kUndefined where it is no such class.
Dtype FunctionLowering::lane(const TypeFacts& type) const {
  const clang::CXXRecordDecl* record = type.kind == TypeKind::kObject ? type.record : nullptr;
  if (!record || !record->hasDefinition() || record->isDependentType()) return Dtype::kUndefined;
  Dtype out = Dtype::kUndefined;
  unsigned lanes = 0;
  for (const clang::FieldDecl* each : record->fields()) {
    const TypeFacts field = facts(each->getType());
    const bool fits =
        field.kind == TypeKind::kNumber && is_floating(field.element) && (lanes == 0 || field.element == out);
    if (!fits || ++lanes > kMaxLanes) return Dtype::kUndefined;
    out = field.element;
  }
  return lanes > 1 ? out : Dtype::kUndefined;
}

// One number for all lanes, or one for each.
ValueId FunctionLowering::vector_of(const TypeFacts& type, const Arguments& lanes) {
  const ValueId made = builder_.value(Op::kObject, plain_name(*type.record), {});
  std::size_t next = 0;
  for (const clang::FieldDecl* each : type.record->fields()) {
    const ValueId stored = lanes[lanes.size() == 1 ? 0 : next++].value;
    builder_.store(field(held(made), each->getNameAsString()).place, stored);
  }
  return made;
}

// __half22float2, __low2float, make_float2 and whatever else takes or gives such vectors.
std::optional<ValueId> FunctionLowering::vector_function(const clang::FunctionDecl* callee,
                                                         llvm::ArrayRef<const Expr*> arguments) {
  const TypeFacts result = facts(callee->getReturnType());
  const bool is_number = result.kind == TypeKind::kNumber;
  const Dtype made = is_number ? result.element : lane(result);
  if (!is_floating(made) || arguments.empty()) return std::nullopt;
  const Dtype given = lane(facts(arguments[0]));
  if (arguments.size() == 1 && is_half(given) && bits(made) > bits(given)) {
    value(arguments[0]);
    const ValueId wide = number_as(number(given), given, made, false);
    return is_number ? wide : vector_of(result, {{"", wide}});
  }
  const auto& fields =
      result.record ? std::distance(result.record->field_begin(), result.record->field_end()) : 0;
  if (is_number || static_cast<std::size_t>(fields) != arguments.size()) return std::nullopt;
  Arguments lanes;
  for (const Expr* each : arguments) {
    const TypeFacts type = facts(each);
    if (type.kind != TypeKind::kNumber || type.element != made) return std::nullopt;
    lanes.push_back({"", value(each)});
  }
  return vector_of(result, lanes);
}

// pointer[i] = vector, *pointer = vector, pointer[i].x = number.
void FunctionLowering::store_lanes(const Expr* target, ValueId stored) {
  const auto* part = llvm::dyn_cast<clang::MemberExpr>(target);
  const Expr* whole = part ? stripped(part->getBase()) : target;
  const Expr* pointer = part && part->isArrow() ? whole : pointer_of(whole);
  const TypeFacts pointed = pointer ? facts(stripped(pointer)) : TypeFacts();
  if (pointed.kind != TypeKind::kPointer || pointed.inner.isNull()) return;
  const TypeFacts type = facts(pointed.inner);
  if (lane(type) == Dtype::kUndefined) return;
  const std::string first = type.record->field_begin()->getNameAsString();
  const ValueId buffer = value(pointer);
  const ValueId written = part ? stored : load(field(held(stored), first));
  builder_.effect(Op::kWrite, "", {{"", buffer}, {"", written}});
}

}  // namespace dtype_guard::clang_front_end
