// What the functions of one file share while they are lowered: its module of the IR, the contracts, and the
// other files.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/python/module_code.h"
#include "analyzer/python/modules.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::python {

class FileUnit {
 public:
  FileUnit(const Modules& modules, const SourceFile& file, const ContractSet& contracts)
      : modules_(modules), file_(file), contracts_(contracts) {}

  const Modules& modules() const { return modules_; }
  const SourceFile& file() const { return file_; }
  const ContractSet& contracts() const { return contracts_; }
  // The API that a dotted name is a spelling of.
  // Null of a library's module as well: the call of its name makes one, and its forward has the contract.
  const Api* contract(const std::string& dotted) const;
  void add(flow::Function function) { module_.functions.push_back(std::move(function)); }
  // Of functions that several places make alike, one.
  void add_once(flow::Function function) {
    if (made_.insert(function.key).second) add(std::move(function));
  }
  // What was made so far, of which it is rid then.
  flow::Module take() { return std::exchange(module_, {}); }
  flow::Module& module() { return module_; }
  void not_lowered(const std::string& function, const Node& at, std::string reason);
  // Nested functions are lowered where they are made.
  std::unique_ptr<FunctionDefinition>& keep(std::unique_ptr<FunctionDefinition> definition) {
    return kept_.emplace_back(std::move(definition));
  }
  // Whether some class of the file has a method of that name, or gives its objects a field, which an unknown
  // receiver may be of.
  bool is_project_method(std::string_view name) const;
  bool is_project_field(std::string_view name);
  bool is_module(const ClassDefinition& of);
  // Whether code of the file sets the default dtype to another than float32 and leaves it so; a generator
  // that makes a context manager is followed where that is entered.
  bool sets_default_dtype();
  bool chooses_kernels();  // of a call that has several
  // Empty where the module's code is not lowered.
  const ModuleNames& module_names() const { return module_names_; }
  void note_module_names(ModuleNames names) { module_names_ = std::move(names); }

 private:
  const Modules& modules_;
  const SourceFile& file_;
  const ContractSet& contracts_;
  flow::Module module_;
  ModuleNames module_names_;
  std::set<std::string> made_;
  std::optional<std::set<std::string, std::less<>>> fields_;
  std::optional<bool> sets_default_dtype_, chooses_kernels_;
  std::unordered_map<const ClassDefinition*, bool> modules_in_sight_;
  std::vector<std::unique_ptr<FunctionDefinition>> kept_;
};

// Of an implicit constructor.
std::string constructor_key(const ClassDefinition& of);

}  // namespace dtype_guard::python
