#include "analyzer/tidy/results.h"

#include <clang/AST/ASTContext.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Preprocessor.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "analyzer/clang/parsed_unit.h"
#include "analyzer/driver/option_values.h"
#include "analyzer/flow/fixes/fix_search.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/tidy/parsed_text.h"
#include "rules/contracts/contract.h"
#include "rules/contracts/own_contracts.h"
#include "rules/operators/devices.h"

namespace dtype_guard::tidy {
namespace {

namespace fs = std::filesystem;
using clang_front_end::LoweredSource;
using clang_front_end::LoweringOptions;
using clang_front_end::UserCode;

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    const std::size_t begin = word.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    out.push_back(word.substr(begin, word.find_last_not_of(" \t") + 1 - begin));
  }
  return out;
}

// Throws what is wrong with them.
driver::Options options_of(const Settings& settings) {
  driver::Options options;
  driver::check_precision(words(settings.precision), {}, options);
  if (!settings.torch.empty()) options.torch_versions = driver::read_torch_versions(settings.torch);
  if (!settings.device.empty()) options.device = settings.device;
  driver::expect_one_of("DtypeDevice", options.device, {kDevices.begin(), kDevices.end()});
  options.contracts = builtin_contracts();
  for (const std::string& file : words(settings.contracts)) {
    add_contracts(options.contracts, file);
  }
  if (!settings.strict.empty()) driver::expect_one_of("DtypeStrict", settings.strict, {"true", "false"});
  options.strict = settings.strict == "true";
  return options;
}

std::string main_file(const clang::SourceManager& sources) {
  const auto entry = sources.getFileEntryRefForID(sources.getMainFileID());
  if (!entry) return {};
  llvm::SmallString<256> path(entry->getName());
  sources.getFileManager().makeAbsolutePath(path);
  return fs::path(path.str().str()).lexically_normal().string();
}

Results evaluate(clang::ASTContext& context, clang::Preprocessor& preprocessor, const Settings& settings) {
  Results out;
  const std::string file = main_file(context.getSourceManager());
  if (file.empty()) return out;
  driver::Options options;
  try {
    options = options_of(settings);
  } catch (const std::exception& error) {
    out.problem = error.what();
    return out;
  }
  out.root = settings.root.empty() ? source::project_root(file)
                                   : fs::absolute(settings.root).lexically_normal().string();
  LoweringOptions lowering;
  lowering.user_code = UserCode(out.root, {"*/third_party/*", "*/site-packages/*"});
  lowering.contracts = &options.contracts;
  LoweredSource lowered;
  clang_front_end::lower_parsed(context, preprocessor, lowering, lowered);
  flow::AnalysisOptions analysis;
  analysis.settings = options.settings;
  analysis.settings_named_by_user = options.settings_named;
  analysis.device = options.device;
  analysis.strict = options.strict;
  analysis.contracts = &options.contracts;
  if (!lowered.torch_version.empty()) analysis.torch_versions = {lowered.torch_version};
  if (!options.torch_versions.empty()) analysis.torch_versions = options.torch_versions;
  const flow::Program program(lowered.module);
  out.findings = flow::analyse(program, flow::roots_to_analyse(program), analysis).findings;
  ParsedText text(context.getSourceManager(), out.root);
  flow::offer_fixes(
      lowered.module, program, analysis, [&](const std::string& name) { return text(name); }, out.findings);
  return out;
}

std::map<Settings, Results>& known_results() {
  static std::map<Settings, Results> known;
  return known;
}

}  // namespace

const Results& results_of(clang::ASTContext& context, clang::Preprocessor& preprocessor,
                          const Settings& settings) {
  const auto known = known_results().find(settings);
  if (known != known_results().end()) return known->second;
  return known_results().emplace(settings, evaluate(context, preprocessor, settings)).first->second;
}

void forget_results() { known_results().clear(); }

}  // namespace dtype_guard::tidy
