// What a file uses of installed packages: their functions and the methods of their classes, lowered as
// foreign code into the module of the file that uses them. They are evaluated where they are called, have no
// place in any report, and those that nothing leads to are not read.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/python/file_lowering.h"

namespace dtype_guard::python {

class InstalledCode {
 public:
  InstalledCode(const Modules& modules, const ContractSet& contracts, flow::Module& module)
      : modules_(modules), contracts_(contracts), module_(module) {}
  // Adds what the module's functions and classes lead to, a bounded number of functions.
  void add();

 private:
  void index_files();
  // What new functions and classes of the module mention.
  void look_for_uses();
  void use(std::string_view callee);
  void use_class(const std::string& name);
  void add_methods(const ClassDefinition& of);
  void add_function(const FunctionDefinition& definition);
  void take_over(flow::Module lowered);
  FileLowering& unit(const SourceFile& file);

  const Modules& modules_;
  const ContractSet& contracts_;
  flow::Module& module_;
  std::set<const SourceFile*> indexed_;
  std::unordered_map<std::string, const FunctionDefinition*> functions_;  // by key
  std::unordered_map<std::string, const ClassDefinition*> classes_;       // by qualified name
  std::set<std::string> methods_ = {"__init__", "forward", "__call__"};   // names that something calls
  std::set<const ClassDefinition*> used_;
  std::set<std::string> present_;  // keys of the module's functions
  std::set<const FunctionDefinition*> added_;
  std::set<std::string> noted_;  // classes of the module
  std::map<const SourceFile*, std::unique_ptr<FileLowering>> units_;
  std::size_t functions_seen_ = 0, classes_seen_ = 0;
};

}  // namespace dtype_guard::python
