// The class that a root is a method of, made of others: bases, nested members, members that are initialised
// from what a constructor is handed, and parts that are converted apart from the whole.
#pragma once

#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/interpreter/library_modules.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

// Fields behind one another, the last of which holds a tensor or an object.
using MemberPath = std::vector<std::string>;
struct MemberLayer {
  std::string field;
  const LibraryModule* type;
};
struct Members {
  std::vector<MemberPath> tensors, parts;
  std::vector<MemberLayer> layers;
};
Members add_composed_model(flow::Module& module, const std::string& name, Random& random, int& line);

}  // namespace dtype_guard::oracle
