// Lowers a file: its functions, what is to know of its classes, and their implicit constructors.
#pragma once

#include "analyzer/flow/ir/ir.h"
#include "analyzer/python/file_unit.h"

namespace dtype_guard::python {

class FileLowering {
 public:
  FileLowering(const Modules& modules, const SourceFile& file, const ContractSet& contracts)
      : unit_(modules, file, contracts) {}
  flow::Module run();
  // One function, and what is to know of one class, where nothing else of the file is asked for.
  flow::Module only(const FunctionDefinition& definition);
  flow::Module facts_of(const ClassDefinition& definition);

 private:
  void lower(const FunctionDefinition& definition);
  void note_class(const ClassDefinition& definition);
  void class_attributes(const ClassDefinition& definition);
  void inherited_constructor(const ClassDefinition& definition);
  void inherited_forward(const ClassDefinition& definition);
  void inherit(const ClassDefinition& definition, const FunctionDefinition& above);
  void field_constructor(const ClassDefinition& definition);

  FileUnit unit_;
};

}  // namespace dtype_guard::python
