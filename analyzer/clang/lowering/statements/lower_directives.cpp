// Statements around statements: OpenMP's directives and inline assembly.
#include <clang/AST/StmtOpenMP.h>

#include "analyzer/clang/lowering/function_lowering.h"

namespace dtype_guard::clang_front_end {

using namespace flow;

// Threads change no dtype: what a directive is written before runs as if it stood alone.
const clang::Stmt* governed(const clang::Stmt* directive) {
  if (const auto* loop = llvm::dyn_cast<clang::OMPCanonicalLoop>(directive)) return loop->getLoopStmt();
  const auto* executable = llvm::cast<clang::OMPExecutableDirective>(directive);
  return executable->hasAssociatedStmt() ? executable->getRawStmt() : nullptr;
}

// Of what assembly computes only the type is known, which is that of the variable it goes to.
void FunctionLowering::assembly(const clang::AsmStmt* code) {
  for (unsigned i = 0; i < code->getNumInputs(); ++i) value(code->getInputExpr(i));
  for (unsigned i = 0; i < code->getNumOutputs(); ++i) {
    const clang::Expr* output = code->getOutputExpr(i);
    const TypeFacts type = facts(output);
    const bool known = type.kind == TypeKind::kNumber && !type.record;
    assign(lvalue(output), known ? number(type.element) : builder_.unknown());
  }
}

}  // namespace dtype_guard::clang_front_end
