// Parsing one file and lowering its user functions.
#include "analyzer/clang/front_end.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "analyzer/clang/commands/compiler_headers.h"
#include "analyzer/clang/commands/nvcc.h"
#include "analyzer/clang/commands/standard_headers.h"
#include "analyzer/clang/lowering/translation_unit.h"
#include "analyzer/clang/parsed_unit.h"
#include "analyzer/clang/preamble_run.h"
#include "analyzer/clang/preambles.h"
#include "analyzer/clang/recording_file_system.h"
#include "analyzer/clang/regular_files.h"

namespace dtype_guard::clang_front_end {

namespace {

constexpr std::size_t kErrorsKept = 5;

// Only the user's bodies are wanted.
class UsersBodies {
 public:
  explicit UsersBodies(const LoweringOptions& options) : options_(options) {}

  bool skips(const clang::SourceManager& sources, const clang::Decl& decl) {
    const clang::FileID file = sources.getFileID(sources.getExpansionLoc(decl.getLocation()));
    const auto known = user_files_.find(file);
    if (known != user_files_.end()) return !known->second;
    bool user = false;
    if (const auto entry = sources.getFileEntryRefForID(file)) {
      llvm::SmallString<256> path(entry->getName());
      sources.getFileManager().makeAbsolutePath(path);
      user = is_users(sources, decl.getLocation(), path.str().str());
    }
    user_files_[file] = user;
    return !user;
  }

 private:
  bool is_users(const clang::SourceManager& sources, clang::SourceLocation location,
                const std::string& path) {
    const UserCode& user_code = options_.user_code;
    if (!user_code.contains(path) &&
        !(is_found_as_the_users(sources, location) && user_code.is_neighbour(path, exists_for(sources))))
      return false;
    if (!packages_) packages_.emplace(user_code.root(), main_file(sources), exists_for(sources));
    return !packages_->hold(path);
  }

  static std::string main_file(const clang::SourceManager& sources) {
    const auto entry = sources.getFileEntryRefForID(sources.getMainFileID());
    llvm::SmallString<256> path(entry ? entry->getName() : "");
    sources.getFileManager().makeAbsolutePath(path);
    return path.str().str();
  }

  const LoweringOptions& options_;
  std::optional<source::PackageFolders> packages_;
  std::map<clang::FileID, bool> user_files_;
};

class LoweringConsumer : public clang::ASTConsumer {
 public:
  LoweringConsumer(clang::CompilerInstance& compiler, const LoweringOptions& options, LoweredSource& result)
      : compiler_(compiler), options_(options), result_(result), bodies_(options) {}

  // Called while parsing.
  bool shouldSkipFunctionBody(clang::Decl* decl) override {
    return bodies_.skips(compiler_.getSourceManager(), *decl);
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    lower_parsed(context, compiler_.getPreprocessor(), options_, result_);
  }

 private:
  clang::CompilerInstance& compiler_;
  const LoweringOptions& options_;
  LoweredSource& result_;
  UsersBodies bodies_;
};

class LoweringAction : public clang::ASTFrontendAction {
 public:
  LoweringAction(const LoweringOptions& options, LoweredSource& result)
      : options_(options), result_(result) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    // Behind a fatal error Clang makes no function of a template, so that one missing header would hide all
    // of libtorch.
    compiler.getDiagnostics().setSeverity(clang::diag::err_pp_file_not_found, clang::diag::Severity::Error,
                                          clang::SourceLocation());
    return std::make_unique<LoweringConsumer>(compiler, options_, result_);
  }

 private:
  const LoweringOptions& options_;
  LoweredSource& result_;
};

// Runs the action, on what follows the kept start of the file where starts are kept.
class LoweringRun : public clang::tooling::FrontendActionFactory {
 public:
  LoweringRun(const LoweringOptions& options, std::unique_ptr<Preamble>& preamble, LoweredSource& result)
      : options_(options), preamble_(preamble), result_(result) {}

  std::unique_ptr<clang::FrontendAction> create() override {
    return std::make_unique<LoweringAction>(options_, result_);
  }
  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> invocation, clang::FileManager* files,
                     std::shared_ptr<clang::PCHContainerOperations> containers,
                     clang::DiagnosticConsumer* errors) override {
    invocation->getFrontendOpts().SkipFunctionBodies = true;
    invocation->getDiagnosticOpts().ShowCarets = false;  // else "1 error generated." goes to stderr
    llvm::IntrusiveRefCntPtr<clang::FileManager> seen(files);
    if (options_.preambles) {
      UsersBodies bodies(options_);
      seen = use_preamble(
          *invocation, *files, containers,
          [&](const auto& sources, const auto& function) { return bodies.skips(sources, function); },
          preamble_);
    }
    return FrontendActionFactory::runInvocation(std::move(invocation), seen.get(), std::move(containers),
                                                errors);
  }

 private:
  const LoweringOptions& options_;
  std::unique_ptr<Preamble>& preamble_;
  LoweredSource& result_;
};

// Keeps what the compiler would call errors.
class ErrorCollector : public clang::DiagnosticConsumer {
 public:
  ErrorCollector(const LoweringOptions& options, LoweredSource& result)
      : options_(options), result_(result) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error || result_.errors.size() >= kErrorsKept) return;
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    SourceError error{"", 0, 0, message.str().str()};
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (at.isValid()) {
        llvm::SmallString<256> path(at.getFilename());
        info.getSourceManager().getFileManager().makeAbsolutePath(path);
        error.file = options_.user_code.report_name(path.str().str());
        error.line = static_cast<int>(at.getLine());
        error.column = static_cast<int>(at.getColumn());
      }
    }
    result_.errors.push_back(std::move(error));
  }

 private:
  const LoweringOptions& options_;
  LoweredSource& result_;
};

}  // namespace

namespace {

// A stack that overflows is a crash of the file as well: its signal is handled on another stack.
void handle_signals_elsewhere() {
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    action.sa_flags |= SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

class SignalStack {
 public:
  SignalStack() : memory_(std::size_t{64} << 10U) {
    stack_t own{};
    own.ss_sp = memory_.data();
    own.ss_size = memory_.size();
    ::sigaltstack(&own, &before_);
  }
  ~SignalStack() { ::sigaltstack(&before_, nullptr); }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<char> memory_;
  stack_t before_{};
};

// The start of a file rests on its headers, whichever run has read them.
void add_read(const source::Dependencies& start, source::Dependencies& all) {
  for (const source::ReadFile& each : start.files) {
    const bool is_known = std::any_of(all.files.begin(), all.files.end(),
                                      [&](const source::ReadFile& other) { return other.path == each.path; });
    if (!is_known) all.files.push_back(each);
  }
  all.folders.insert(all.folders.end(), start.folders.begin(), start.folders.end());
  all.refused = all.refused || start.refused;
}

// A fatal error of LLVM ends the file, not the process.
void leave_file(void*, const char*, bool) {
  if (llvm::CrashRecoveryContext* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(1);
}

}  // namespace

// Words that stand for others which are not there, and those of another family of compilers.
std::string why_not_understood(const CompileCommand& command) {
  for (const std::string& each : command.arguments) {
    if (each.size() > 1 && each[0] == '@') {
      return "the response file '" + each.substr(1) + "' of its command cannot be read";
    }
    if (each == "--driver-mode=cl") return "its command is written as for MSVC, which is not understood";
  }
  if (command.arguments.empty()) return "its command is empty";
  std::error_code error;
  const bool waits =
      std::filesystem::exists(command.file, error) && !std::filesystem::is_regular_file(command.file, error);
  if (waits) return "it is no regular file";
  const std::string& program = command.arguments.front();
  const std::string name = program.substr(program.find_last_of("/\\") + 1);
  if (name == "cl" || name == "cl.exe" || name == "clang-cl" || name == "clang-cl.exe") {
    return "its command is one of '" + name + "', which is not understood";
  }
  return "";
}

bool is_built_in() { return true; }

LoweredSource lower(const CompileCommand& command, const LoweringOptions& options) {
  LoweredSource result;
  std::error_code no_folder;
  if (!std::filesystem::is_directory(command.directory, no_folder)) {
    result.errors.push_back(
        {options.user_code.report_name(command.file), 0, 0,
         "the folder that it is compiled in, '" + command.directory + "', does not exist"});
    return result;
  }
  if (std::string why = why_not_understood(command); !why.empty()) {
    result.errors.push_back({options.user_code.report_name(command.file), 0, 0, std::move(why)});
    return result;
  }
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  std::map<std::string, std::string> given = cuda_headers();
  given.insert(standard_headers().begin(), standard_headers().end());
  given.merge(compiler_headers(compiler_of(command), resource_directory()));
  given.insert(options.files.begin(), options.files.end());
  for (const auto& [path, text] : given) {
    // A preamble takes a file without a time for one that cannot be compared.
    memory->addFile(path, 1, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  }
  const auto disk = llvm::makeIntrusiveRefCnt<RegularFiles>(
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(llvm::vfs::createPhysicalFileSystem().release()));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(disk);
  overlay->pushOverlay(memory);
  overlay->setCurrentWorkingDirectory(command.directory);
  clang::FileSystemOptions file_options;
  file_options.WorkingDir = command.directory;
  llvm::IntrusiveRefCntPtr<RecordingFileSystem> recording;
  if (options.record_dependencies) {
    recording = llvm::makeIntrusiveRefCnt<RecordingFileSystem>(overlay, given);
  }
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> seen = overlay;
  if (recording) seen = recording;
  auto files = llvm::makeIntrusiveRefCnt<clang::FileManager>(file_options, seen);

  std::unique_ptr<Preamble> preamble;
  if (options.preambles) preamble = options.preambles->take(command.file);
  ErrorCollector errors(options, result);
  bool ran = false;
  llvm::CrashRecoveryContext::Enable();
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(leave_file);
    handle_signals_elsewhere();
  });
  llvm::CrashRecoveryContext guard;
  const bool survived = guard.RunSafelyOnThread(
      [&] {
        // Never given back by a crash: the handler may still stand on it.
        auto* signal_stack = new SignalStack;
        LoweringRun run(options, preamble, result);
        clang::tooling::ToolInvocation invocation(adjusted_command(command, options.extra_arguments), &run,
                                                  files.get(),
                                                  std::make_shared<clang::PCHContainerOperations>());
        invocation.setDiagnosticConsumer(&errors);
        ran = invocation.run();
        delete signal_stack;
      },
      std::size_t{64} << 20U);
  result.crashed = !survived;
  if (!survived) (void)preamble.release();  // what crashed may have left it half changed
  if (recording && survived) result.dependencies = recording->dependencies();
  if (preamble) {
    if (preamble->read)
      add_read(*preamble->read, result.dependencies);
    else
      preamble->read = result.dependencies;
    options.preambles->keep(command.file, std::move(preamble));
  }
  if (survived && !ran && result.errors.empty()) {
    result.errors.push_back(
        {options.user_code.report_name(command.file), 0, 0, "Clang could not read this file"});
  }
  return result;
}

}  // namespace dtype_guard::clang_front_end
