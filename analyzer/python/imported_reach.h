// What a call of code that the run does not look at for its own sake leads to: how much there is to evaluate,
// and whether any of it makes a dtype. Frameworks do much where a model is made or saved that has nothing to
// do with dtypes, and it would be evaluated again for each root.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/python/file_lowering.h"

namespace dtype_guard::python {

class ImportedReach {
 public:
  using Functions = std::unordered_map<std::string, const FunctionDefinition*>;  // by key
  ImportedReach(const Modules& modules, const ContractSet& contracts, const Functions& functions)
      : modules_(modules), contracts_(contracts), functions_(functions) {}

  // The function and what stands beside it, lowered.
  const flow::Module& lowered(const FunctionDefinition& definition);
  FileLowering& unit(const SourceFile& file);
  // Whether evaluating it pays: it is short with all that it calls, or makes a dtype and is not too long.
  bool is_worth_evaluating(const FunctionDefinition& definition);

 private:
  struct Step {
    std::size_t instructions = 0;
    bool makes_dtype = false;
    std::vector<const FunctionDefinition*> calls;
  };
  const Step& step(const FunctionDefinition& definition);

  const Modules& modules_;
  const ContractSet& contracts_;
  const Functions& functions_;
  std::map<const SourceFile*, std::unique_ptr<FileLowering>> units_;
  std::map<const FunctionDefinition*, flow::Module> lowered_;
  std::map<const FunctionDefinition*, Step> steps_;
};

// The key of the function that a call or closure names, if it names one; else empty.
std::string_view named_function(std::string_view callee);

}  // namespace dtype_guard::python
