// TranslationUnit is what the lowering of all functions of one source file shares: the Clang AST, the module
// that is being filled, positions and text, function keys, and what is user code.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Mangle.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "analyzer/clang/lowering/torch_types.h"
#include "analyzer/flow/ir/builder.h"
#include "analyzer/flow/ir/ir.h"
#include "analyzer/source/package_folders.h"
#include "analyzer/source/user_code.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::clang_front_end {
using flow::Builder;

class TranslationUnit {
 public:
  TranslationUnit(clang::ASTContext& context, const source::UserCode& user_code, const ContractSet& contracts,
                  flow::Module& module);

  clang::ASTContext& context;
  const ContractSet& contracts;
  flow::Module& module;
  TypeScope types() const { return {context, contracts.types, dtype_enumerations_}; }

  // Positions are those in the file, of the macro where the code is not one of its arguments; the text is as
  // written, white space folded.
  Builder::Position position(clang::SourceRange range) const;
  flow::SourceRange range(clang::SourceRange range) const;

  bool is_user_code(clang::SourceLocation location) const;
  // In the source file itself, which no other file includes.
  bool is_local(clang::SourceLocation location) const;
  // User code, or a header beside it whose functions are evaluated where user code calls them.
  bool is_analysed(clang::SourceLocation location) const;
  // The definition that a call runs, when its body is user code; else nullptr.
  const clang::FunctionDecl* user_definition(const clang::FunctionDecl* callee) const;
  // The default constructor of a class of the project, where it is unused, so that Clang gives it no body,
  // and it does something: what holds for an object that unseen code makes.
  const clang::CXXConstructorDecl* unused_constructor(const clang::CXXRecordDecl* record);
  // True when the function is declared in user code, wherever its body is.
  bool is_user_function(const clang::FunctionDecl* callee) const;
  std::string key(const clang::FunctionDecl* function) const;
  std::string display_name(const clang::FunctionDecl* function) const;

  bool is_overridden(const clang::CXXMethodDecl* method) const;
  void note_override(const clang::CXXMethodDecl* method);
  // Keys of the user's virtual functions that were noted as overridden, sorted.
  std::vector<std::string> overridden_keys() const;
  // The entry for a class that is noted for the first time, else nullptr. Valid until the unit ends.
  flow::ClassFacts* note_class(const std::string& name);
  bool notes_class(const std::string& name) const { return classes_.count(name) != 0; }
  std::vector<flow::ClassFacts> classes() const;  // by name
  void not_lowered(const std::string& function, std::string reason, clang::SourceRange range);

 private:
  clang::CharSourceRange as_written(clang::SourceRange range) const;
  std::uint32_t file_id(clang::FileID file) const;
  std::string absolute_path(clang::FileID file) const;

  const source::UserCode& user_code_;
  std::unique_ptr<clang::ASTNameGenerator> names_;
  std::set<const clang::CXXMethodDecl*> overridden_;
  std::map<std::string, flow::ClassFacts> classes_;
  std::map<const clang::CXXRecordDecl*, const clang::CXXConstructorDecl*> undeclared_constructors_;
  mutable std::map<const clang::EnumDecl*, bool> dtype_enumerations_;
  mutable std::map<clang::FileID, std::uint32_t> files_;
  mutable std::map<clang::FileID, bool> is_user_;
  mutable std::map<clang::FileID, bool> is_neighbour_;
  mutable source::PackageFolders packages_;
};

// By -I or beside the file, not by -isystem or a compiler's own path.
bool is_found_as_the_users(const clang::SourceManager& sources, clang::SourceLocation location);
// As the compiler sees the disk, so that what was looked for is known afterwards.
source::Exists exists_for(const clang::SourceManager& sources);

}  // namespace dtype_guard::clang_front_end
