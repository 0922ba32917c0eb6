#include "analyzer/clang/lowering/translation_unit.h"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "analyzer/clang/lowering/torch_types.h"
#include "rules/text/utf8.h"

namespace dtype_guard::clang_front_end {

namespace {
constexpr std::size_t kTextLimit = 120;

std::string folded(llvm::StringRef source) {
  std::string text;
  for (char c : source) {
    if (text.size() > kTextLimit) break;  // an expression may fill a file
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  text.resize(first_bytes(text, kTextLimit).size());
  return text;
}
}  // namespace

TranslationUnit::TranslationUnit(clang::ASTContext& ast, const source::UserCode& user_code,
                                 const ContractSet& contract_set, flow::Module& target)
    : context(ast),
      contracts(contract_set),
      module(target),
      user_code_(user_code),
      names_(std::make_unique<clang::ASTNameGenerator>(ast)),
      packages_(user_code.root(), absolute_path(ast.getSourceManager().getMainFileID()),
                exists_for(ast.getSourceManager())) {}

std::string TranslationUnit::absolute_path(clang::FileID file) const {
  const clang::SourceManager& sources = context.getSourceManager();
  const auto entry = sources.getFileEntryRefForID(file);
  if (!entry) return {};
  llvm::SmallString<256> path(entry->getName());
  sources.getFileManager().makeAbsolutePath(path);
  return path.str().str();
}

std::uint32_t TranslationUnit::file_id(clang::FileID file) const {
  if (const auto known = files_.find(file); known != files_.end()) return known->second;
  const std::string name = user_code_.report_name(absolute_path(file));
  auto& files = module.files;
  const auto at = std::find(files.begin(), files.end(), name);
  const auto id = static_cast<std::uint32_t>(at - files.begin());
  if (at == files.end()) files.push_back(name);
  return files_[file] = id;
}

// Where the code stands in its file: within the argument of a macro there, else the whole expansion.
clang::CharSourceRange TranslationUnit::as_written(clang::SourceRange range) const {
  const clang::SourceManager& sources = context.getSourceManager();
  if (range.getBegin().isMacroID() && range.getEnd().isMacroID()) {
    const clang::CharSourceRange own = clang::Lexer::makeFileCharRange(
        clang::CharSourceRange::getTokenRange(range), sources, context.getLangOpts());
    if (own.isValid()) return own;
  }
  return sources.getExpansionRange(range);
}

flow::SourceRange TranslationUnit::range(clang::SourceRange written) const {
  const clang::SourceManager& sources = context.getSourceManager();
  if (written.isInvalid()) return {};
  clang::CharSourceRange expanded = as_written(written);
  const auto [file, begin] = sources.getDecomposedLoc(expanded.getBegin());
  auto [end_file, end] = sources.getDecomposedLoc(expanded.getEnd());
  if (file.isInvalid() || absolute_path(file).empty()) return {};
  if (end_file != file) end = begin;
  if (expanded.isTokenRange() || end_file != file) {
    const clang::SourceLocation last = sources.getComposedLoc(file, end);
    end += clang::Lexer::MeasureTokenLength(last, sources, context.getLangOpts());
  }
  return {file_id(file), static_cast<int>(sources.getLineNumber(file, begin)),
          static_cast<int>(sources.getColumnNumber(file, begin)),
          static_cast<int>(sources.getLineNumber(file, end)),
          static_cast<int>(sources.getColumnNumber(file, end))};
}

Builder::Position TranslationUnit::position(clang::SourceRange written) const {
  const clang::SourceManager& sources = context.getSourceManager();
  if (written.isInvalid()) return {};
  const llvm::StringRef source =
      clang::Lexer::getSourceText(as_written(written), sources, context.getLangOpts());
  const bool macro = written.getBegin().isMacroID() || written.getEnd().isMacroID();
  return {range(written), folded(source), macro ? flow::Written::kMacro : flow::Written::kOther};
}

bool is_found_as_the_users(const clang::SourceManager& sources, clang::SourceLocation location) {
  return !sources.isInSystemHeader(sources.getExpansionLoc(location));
}

source::Exists exists_for(const clang::SourceManager& sources) {
  return [&files = sources.getFileManager().getVirtualFileSystem()](const std::string& path) {
    return files.exists(path);
  };
}

bool TranslationUnit::is_analysed(clang::SourceLocation location) const {
  if (location.isInvalid()) return false;
  if (is_user_code(location)) return true;
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(location));
  const auto known = is_neighbour_.find(file);
  if (known != is_neighbour_.end()) return known->second;
  const std::string path = absolute_path(file);
  const bool neighbour = !path.empty() && is_found_as_the_users(sources, location) &&
                         user_code_.is_neighbour(path, exists_for(sources)) && !packages_.hold(path);
  return is_neighbour_[file] = neighbour;
}

bool TranslationUnit::is_local(clang::SourceLocation location) const {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(location));
  return file == sources.getMainFileID() && !source::is_header(absolute_path(file));
}

bool TranslationUnit::is_user_code(clang::SourceLocation location) const {
  if (location.isInvalid()) return false;
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(location));
  if (const auto known = is_user_.find(file); known != is_user_.end()) return known->second;
  const std::string path = absolute_path(file);
  return is_user_[file] = !path.empty() && user_code_.contains(path) && !packages_.hold(path);
}

const clang::FunctionDecl* TranslationUnit::user_definition(const clang::FunctionDecl* callee) const {
  const clang::FunctionDecl* definition = nullptr;
  if (!callee || !callee->hasBody(definition) || !definition) return nullptr;
  if (definition->isDependentContext() || !is_analysed(definition->getLocation())) return nullptr;
  return definition;
}

bool TranslationUnit::is_user_function(const clang::FunctionDecl* callee) const {
  return callee && !callee->isDependentContext() && is_user_code(callee->getLocation());
}

std::string TranslationUnit::key(const clang::FunctionDecl* function) const {
  function = function->getCanonicalDecl();
  std::string mangled = names_->getName(function);
  if (llvm::isa<clang::CXXConstructorDecl, clang::CXXDestructorDecl>(function)) {
    const std::vector<std::string> all = names_->getAllManglings(function);
    if (!all.empty()) mangled = all.front();
  }
  if (mangled.empty()) mangled = function->getQualifiedNameAsString();
  if (function->getFormalLinkage() == clang::Linkage::External) return mangled;
  // Another file may have its own function of this name.
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(function->getLocation()));
  return mangled + "@" + module.files.at(file_id(file));
}

std::string TranslationUnit::display_name(const clang::FunctionDecl* function) const {
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) {
    if (method->getParent()->isLambda()) {
      const clang::DeclContext* outer = method->getParent()->getDeclContext();
      while (outer && !llvm::isa<clang::FunctionDecl>(outer)) outer = outer->getParent();
      if (!outer) return "lambda";
      return display_name(llvm::cast<clang::FunctionDecl>(outer)) + "::lambda";
    }
  }
  return plain_name(*function);
}

bool TranslationUnit::is_overridden(const clang::CXXMethodDecl* method) const {
  return overridden_.count(method->getCanonicalDecl()) != 0;
}

void TranslationUnit::note_override(const clang::CXXMethodDecl* method) {
  for (const clang::CXXMethodDecl* base : method->overridden_methods()) {
    overridden_.insert(base->getCanonicalDecl());
  }
}

std::vector<std::string> TranslationUnit::overridden_keys() const {
  std::vector<std::string> keys;
  for (const clang::CXXMethodDecl* each : overridden_) {
    // A destructor is called for an object of known type.
    if (!llvm::isa<clang::CXXDestructorDecl>(each) && is_user_function(each)) keys.push_back(key(each));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

flow::ClassFacts* TranslationUnit::note_class(const std::string& name) {
  const auto [at, fresh] = classes_.try_emplace(name);
  if (!fresh) return nullptr;
  at->second.name = name;
  return &at->second;
}

std::vector<flow::ClassFacts> TranslationUnit::classes() const {
  std::vector<flow::ClassFacts> out;
  for (const auto& [name, facts] : classes_) out.push_back(facts);
  return out;
}

void TranslationUnit::not_lowered(const std::string& function, std::string reason, clang::SourceRange where) {
  module.not_lowered.push_back({function, std::move(reason), range(where)});
}

}  // namespace dtype_guard::clang_front_end
