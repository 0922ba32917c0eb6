// What an operator of the table is handed: its inputs, and the dtypes that are stated beside them.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

struct Instruction;

struct StatedDtype {
  Dtype dtype = Dtype::kUndefined;
  bool assumed = false;
  bool uncertain = false;
  SymbolSetId symbols = 0;  // what decides it
  StepId told = 0;          // the trail of the tensor that was asked for it
};
struct Input {
  std::string_view argument;
  std::vector<Alternative> alternatives;
  ValueId value = 0;  // as the instruction names it; 0 for module parameters
};
struct Operands {
  std::vector<Input> inputs;
  std::vector<StatedDtype> dtypes;
  bool has_dtype = false;
};

// What one of the inputs may be and the operator throws for, whatever the others are.
struct Refused {
  ValueId value = 0;
  std::vector<Alternative> alternatives;
};

// Whether x[...] takes parts by slices: of a tensor another tensor, of a list another list. By an index it is
// what stands there.
bool takes_slices(const Instruction& subscript);
bool is_slices(std::string_view how);  // a part of what stands in the brackets, by its name

}  // namespace dtype_guard::flow
