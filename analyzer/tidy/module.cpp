// Registers each rule of the catalog that speaks of code as dtype-RULE; comments that hide findings are
// clang-tidy's own matter.
#include <clang/Basic/Version.h>
#if CLANG_VERSION_MAJOR < 22
#include <clang-tidy/ClangTidyModuleRegistry.h>
#endif
#include <clang-tidy/ClangTidyModule.h>

#include "analyzer/tidy/check.h"
#include "rules/catalog/catalog.h"
#include "rules/report/suppressions.h"

namespace dtype_guard::tidy {
namespace {

class DtypeModule : public clang::tidy::ClangTidyModule {
 public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    for (const Rule& rule : catalog()) {
      if (rule.id == kNoReasonRule || rule.id == kStaleRule) continue;
      factories.registerCheck<DtypeCheck>(kPrefix + std::string(rule.id));
    }
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<DtypeModule> registration(
    "dtype-module", "dtypes that are silently promoted on their way into attention calls");

}  // namespace
}  // namespace dtype_guard::tidy
