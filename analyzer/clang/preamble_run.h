// One run of Clang over a file whose start it has parsed before, or parses now for the next run. For
// front_end.cpp, which knows what is done with the file.
#pragma once

#include <clang/AST/DeclBase.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/PrecompiledPreamble.h>

#include <functional>
#include <memory>
#include <optional>

#include "analyzer/source/dependencies.h"

namespace dtype_guard::clang_front_end {

struct Preamble {
  clang::PrecompiledPreamble parsed;
  // What the run that parsed it has read; that of later runs does not have it.
  std::optional<source::Dependencies> read;
};

// Whether a function's body is not wanted, as in ASTConsumer::shouldSkipFunctionBody().
using SkipsBody = std::function<bool(const clang::SourceManager& sources, const clang::Decl& function)>;

// Has `invocation` take the file's start from `preamble`, which is parsed anew where it is null or of another
// start, other headers or another command. `preamble` becomes null where there is nothing to keep: no
// #include lines, or errors among them, which the run itself is to tell. The file manager for the run;
// `files` where it goes without.
llvm::IntrusiveRefCntPtr<clang::FileManager> use_preamble(
    clang::CompilerInvocation& invocation, clang::FileManager& files,
    const std::shared_ptr<clang::PCHContainerOperations>& containers, const SkipsBody& skips_body,
    std::unique_ptr<Preamble>& preamble);

}  // namespace dtype_guard::clang_front_end
