// What a file uses of code that the run does not look at for its own sake: functions, and methods of classes,
// lowered as foreign code into the module of the file that uses them. They are evaluated where they are
// called, and those that nothing leads to are not read. What is of the project keeps its places; what is of
// installed packages has none in any report.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/python/imported_reach.h"

namespace dtype_guard::python {

class ImportedCode {
 public:
  ImportedCode(const Modules& modules, const ContractSet& contracts, flow::Module& module)
      : modules_(modules), module_(module), reach_(modules, contracts, functions_) {}
  // Adds what the module's functions and classes lead to, a bounded number of functions.
  void add();

 private:
  bool is_looked_at(const SourceFile& file) const;
  void index_files();
  // What new functions and classes of the module mention.
  void look_for_uses();
  void use(std::string_view callee);
  void use_class(const std::string& name);
  void add_methods(const ClassDefinition& of);
  void add_function(const FunctionDefinition& definition);
  void take_over(flow::Module lowered, const SourceFile& from);
  std::uint32_t number(const SourceFile& file);

  const Modules& modules_;
  flow::Module& module_;
  std::set<const SourceFile*> indexed_;
  std::unordered_map<std::string, const FunctionDefinition*> functions_;  // by key
  std::unordered_map<std::string, const ClassDefinition*> classes_;       // by qualified name
  std::set<std::string> methods_ = {"__init__", "forward", "__call__"};   // names that something calls
  std::set<const ClassDefinition*> used_;
  std::set<std::string> present_;  // keys of the module's functions
  std::set<const FunctionDefinition*> added_;
  std::set<std::string> noted_;  // classes of the module
  ImportedReach reach_;
  std::size_t functions_seen_ = 0, classes_seen_ = 0;
};

}  // namespace dtype_guard::python
