#include "analyzer/clang/preamble_run.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/MemoryBuffer.h>

namespace dtype_guard::clang_front_end {

#if LLVM_VERSION_MAJOR >= 21

namespace {

class Callbacks : public clang::PreambleCallbacks {
 public:
  explicit Callbacks(const SkipsBody& skips_body) : skips_body_(skips_body) {}
  void BeforeExecute(clang::CompilerInstance& compiler) override { compiler_ = &compiler; }
  bool shouldSkipFunctionBody(clang::Decl* function) override {
    return skips_body_(compiler_->getSourceManager(), *function);
  }

 private:
  const SkipsBody& skips_body_;
  clang::CompilerInstance* compiler_ = nullptr;
};

// The base class forgets its count when the build ends.
class Errors : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& /*info*/) override {
    any = any || level >= clang::DiagnosticsEngine::Error;
  }
  bool any = false;
};

std::unique_ptr<Preamble> parsed_start(const clang::CompilerInvocation& invocation,
                                       const llvm::MemoryBuffer& text, clang::PreambleBounds bounds,
                                       clang::FileManager& files,
                                       const std::shared_ptr<clang::PCHContainerOperations>& containers,
                                       const SkipsBody& skips_body) {
  clang::CompilerInvocation own(invocation);
  Errors errors;
  const auto diagnostics = clang::CompilerInstance::createDiagnostics(
      files.getVirtualFileSystem(), own.getDiagnosticOpts(), &errors, false);
  Callbacks callbacks(skips_body);
  auto built = clang::PrecompiledPreamble::Build(
      own, &text, bounds, diagnostics, files.getVirtualFileSystemPtr(), containers, true, "", callbacks);
  if (!built || errors.any) return nullptr;
  return std::make_unique<Preamble>(Preamble{std::move(*built), std::nullopt});
}

}  // namespace

llvm::IntrusiveRefCntPtr<clang::FileManager> use_preamble(
    clang::CompilerInvocation& invocation, clang::FileManager& files,
    const std::shared_ptr<clang::PCHContainerOperations>& containers, const SkipsBody& skips_body,
    std::unique_ptr<Preamble>& preamble) {
  llvm::IntrusiveRefCntPtr<clang::FileManager> same(&files);
  const auto& inputs = invocation.getFrontendOpts().Inputs;
  auto text = inputs.size() == 1 ? files.getBufferForFile(inputs.front().getFile())
                                 : std::make_error_code(std::errc::invalid_argument);
  if (!text) {
    preamble.reset();
    return same;
  }
  const clang::PreambleBounds bounds =
      clang::ComputePreambleBounds(invocation.getLangOpts(), (*text)->getMemBufferRef(), 0);
  if (preamble && !preamble->parsed.CanReuse(invocation, (*text)->getMemBufferRef(), bounds,
                                             files.getVirtualFileSystem()))
    preamble.reset();
  if (!preamble && bounds.Size > 0)
    preamble = parsed_start(invocation, **text, bounds, files, containers, skips_body);
  if (!preamble) return same;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> seen = files.getVirtualFileSystemPtr();
  // The run takes the buffer over.
  preamble->parsed.AddImplicitPreamble(invocation, seen, text->release());
  return llvm::makeIntrusiveRefCnt<clang::FileManager>(files.getFileSystemOpts(), seen);
}

#else

// Clang's interface to them was another; whole files are parsed.
llvm::IntrusiveRefCntPtr<clang::FileManager> use_preamble(
    clang::CompilerInvocation&, clang::FileManager& files,
    const std::shared_ptr<clang::PCHContainerOperations>&, const SkipsBody&,
    std::unique_ptr<Preamble>& preamble) {
  preamble.reset();
  return &files;
}

#endif

}  // namespace dtype_guard::clang_front_end
