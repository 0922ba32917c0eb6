#include "analyzer/clang/commands/known_options.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Option/Arg.h>
#include <llvm/Option/ArgList.h>
#include <llvm/Option/OptTable.h>
#include <llvm/Option/Option.h>
#if __has_include(<clang/Options/Options.h>)
#include <clang/Options/Options.h>
namespace clang_options = clang::options;
#else
#include <clang/Driver/Options.h>
namespace clang_options = clang::driver::options;
#endif
#if __has_include(<clang/Options/OptionUtils.h>)
#include <clang/Options/OptionUtils.h>
#endif

namespace dtype_guard::clang_front_end {

std::vector<std::string> known_options(const std::vector<std::string>& arguments) {
#if __has_include(<clang/Options/Options.h>)
  const llvm::opt::OptTable& table = clang::getDriverOptTable();
#else
  const llvm::opt::OptTable& table = clang::driver::getDriverOptTable();
#endif
  std::vector<const char*> words;
  words.reserve(arguments.size());
  for (const std::string& each : arguments) words.push_back(each.c_str());
  unsigned missing_index = 0;
  unsigned missing_count = 0;
  const llvm::opt::InputArgList parsed =
      table.ParseArgs(words, missing_index, missing_count, llvm::opt::Visibility(clang_options::ClangOption));
  // An option is the words from its own to the next one's.
  std::vector<const llvm::opt::Arg*> options(parsed.begin(), parsed.end());
  std::vector<std::string> known;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto kind = options[i]->getOption().getKind();
    if (kind == llvm::opt::Option::UnknownClass || kind == llvm::opt::Option::InputClass) continue;
    const std::size_t end = i + 1 < options.size() ? options[i + 1]->getIndex()
                            : missing_count > 0    ? missing_index
                                                   : arguments.size();
    for (std::size_t word = options[i]->getIndex(); word < end && word < arguments.size(); ++word) {
      known.push_back(arguments[word]);
    }
  }
  return known;
}

}  // namespace dtype_guard::clang_front_end
