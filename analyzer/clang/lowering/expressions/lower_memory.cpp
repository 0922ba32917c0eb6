// Functions of C and of the toolkits that work on buffers: allocation, copies, loads and stores that are
// calls, and launches that are.
#include <unordered_map>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;
using clang::Expr;

namespace {

enum class Memory : std::uint8_t {
  kAllocate,    // (&pointer, ...)
  kCopy,        // (to, from, ...)
  kStore,       // (pointer, value, ...)
  kLoad,        // (pointer)
  kLaunch,      // (configuration, kernel, arguments...)
  kLaunchList,  // (kernel, grid, block, pointers to the arguments, ...)
};

const std::unordered_map<std::string, Memory>& memory_functions() {
  static const std::unordered_map<std::string, Memory> kFunctions = {
      {"cudaMalloc", Memory::kAllocate},
      {"cudaMallocAsync", Memory::kAllocate},
      {"cudaMallocFromPoolAsync", Memory::kAllocate},
      {"cudaMallocManaged", Memory::kAllocate},
      {"cudaMallocHost", Memory::kAllocate},
      {"cudaMallocPitch", Memory::kAllocate},
      {"cudaHostAlloc", Memory::kAllocate},
      {"hipMalloc", Memory::kAllocate},
      {"hipMallocAsync", Memory::kAllocate},
      {"memcpy", Memory::kCopy},
      {"memmove", Memory::kCopy},
      {"cudaMemcpy", Memory::kCopy},
      {"cudaMemcpyAsync", Memory::kCopy},
      {"hipMemcpy", Memory::kCopy},
      {"hipMemcpyAsync", Memory::kCopy},
      {"atomicAdd", Memory::kStore},
      {"atomicExch", Memory::kStore},
      {"atomicMax", Memory::kStore},
      {"atomicMin", Memory::kStore},
      {"gpuAtomicAdd", Memory::kStore},
      {"__stcg", Memory::kStore},
      {"__stcs", Memory::kStore},
      {"__stwb", Memory::kStore},
      {"__stwt", Memory::kStore},
      {"__ldca", Memory::kLoad},
      {"__ldcg", Memory::kLoad},
      {"__ldcs", Memory::kLoad},
      {"__ldcv", Memory::kLoad},
      {"__ldg", Memory::kLoad},
      {"__ldlu", Memory::kLoad},
      {"cudaLaunchKernelEx", Memory::kLaunch},
      {"cudaLaunchKernel", Memory::kLaunchList},
      {"cudaLaunchCooperativeKernel", Memory::kLaunchList},
  };
  return kFunctions;
}

// The operand of a cast to void*, explicit or implicit.
const Expr* uncast(const Expr* expr) { return stripped(stripped(expr)->IgnoreParenCasts()); }

// What &a, &b of `void* list[] = {&a, &b}` stand for; empty where the list is not such a one.
std::vector<const Expr*> pointed_to(const Expr* list) {
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(uncast(list));
  const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  const auto* written = variable && variable->getInit()
                            ? llvm::dyn_cast<clang::InitListExpr>(stripped(variable->getInit()))
                            : nullptr;
  std::vector<const Expr*> out;
  for (unsigned i = 0; written && i < written->getNumInits(); ++i) {
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(uncast(written->getInit(i)));
    if (!address || address->getOpcode() != clang::UO_AddrOf) return {};
    out.push_back(address->getSubExpr());
  }
  return out;
}

}  // namespace

// cudaMalloc(&pointer, size), with or without a cast to void**.
std::optional<flow::ValueId> FunctionLowering::device_memory(llvm::ArrayRef<const Expr*> arguments) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(uncast(arguments[0]));
  if (!address || address->getOpcode() != clang::UO_AddrOf) return std::nullopt;
  const TypeFacts pointer = facts(address->getSubExpr());
  if (pointer.kind != TypeKind::kBuffer) return std::nullopt;  // a cast will say of what it is
  for (const Expr* each : arguments.drop_front()) value(each);
  assign(lvalue(address->getSubExpr()), allocate("memory", pointer.element));
  return builder_.unknown();
}

// Bytes of one type are copied as they are; where the types differ, what the bytes mean is unknown.
std::optional<ValueId> FunctionLowering::copied_memory(const Expr* to, const Expr* from) {
  to = uncast(to);
  from = uncast(from);
  const TypeFacts target = facts(to), source = facts(from);
  if (target.kind != TypeKind::kBuffer || source.kind != TypeKind::kBuffer) return std::nullopt;
  if (target.element != source.element) return std::nullopt;
  const ValueId buffer = value(to);
  builder_.effect(Op::kWrite, "", {{"", buffer}, {"", load(cell_of(from, nullptr))}});
  return builder_.unknown();
}

std::optional<ValueId> FunctionLowering::launched(const Expr* kernel, llvm::ArrayRef<const Expr*> arguments) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(uncast(kernel));
  const Expr* named =
      address && address->getOpcode() == clang::UO_AddrOf ? uncast(address->getSubExpr()) : uncast(kernel);
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(named);
  if (!reference) return std::nullopt;
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl())) {
    const clang::FunctionDecl* definition = unit_.user_definition(function);
    if (!definition && !unit_.is_user_function(function)) return std::nullopt;
    return user_call(definition ? definition : function, std::nullopt, arguments);
  }
  Arguments given = {{"", value(named)}};
  for (const Expr* each : arguments) given.push_back({"", value(each)});
  return builder_.value(Op::kCall, "", std::move(given));
}

std::optional<ValueId> FunctionLowering::memory_function(const std::string& name,
                                                         llvm::ArrayRef<const Expr*> arguments) {
  const auto found = memory_functions().find(name);
  if (found == memory_functions().end() || arguments.empty()) return std::nullopt;
  switch (found->second) {
    case Memory::kAllocate:
      return device_memory(arguments);
    case Memory::kCopy:
      return arguments.size() < 2 ? std::nullopt : copied_memory(arguments[0], arguments[1]);
    case Memory::kStore: {
      const TypeFacts target = facts(arguments[0]);
      if (arguments.size() < 2 || target.kind != TypeKind::kBuffer) return std::nullopt;
      const ValueId buffer = value(arguments[0]);
      builder_.effect(Op::kWrite, "", {{"", buffer}, {"", value(arguments[1])}});
      return number(target.element);  // what was there before, where it gives anything
    }
    case Memory::kLoad:
      if (facts(arguments[0]).kind != TypeKind::kBuffer) return std::nullopt;
      return load(cell_of(arguments[0], nullptr));
    case Memory::kLaunch:
      return arguments.size() < 2 ? std::nullopt : launched(arguments[1], arguments.drop_front(2));
    case Memory::kLaunchList:
      return arguments.size() < 4 ? std::nullopt : launched(arguments[0], pointed_to(arguments[3]));
  }
  return std::nullopt;
}

}  // namespace dtype_guard::clang_front_end
