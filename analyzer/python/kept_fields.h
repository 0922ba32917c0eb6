// What a constructor keeps as a field of self, where no other method of the class replaces it, and where it
// leaves None or a flag, which other code may replace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/python/modules.h"

namespace dtype_guard::python {

// What a function binds to a name or field.
class Assignments {
 public:
  Assignments(const FunctionDefinition& function, std::string_view target);
  bool none() const { return count_ == 0; }
  // As `if scale is None: scale = q.shape[-1] ** -0.5`, which stays what the annotation says.
  bool are_computed() const { return are_computed_; }
  // In one assignment and nothing else; no node otherwise.
  Node only() const { return count_ == 1 ? value_ : Node(); }

 private:
  void add(const Node& left, const Node& value);
  void look(const Node& node, int depth);

  std::string_view target_;
  int count_ = 0;
  bool are_computed_ = true;
  Node value_;
};

// Of the class whose method the function is; `constructor` becomes the one that keeps it.
Node kept_as(std::string_view field, const FunctionDefinition& function, const Modules& modules,
             const FunctionDefinition*& constructor);

// `self.cache = None`, `self.is_fused = False` in its own constructor, in order, each once.
std::vector<std::string> placeholders_of(const ClassDefinition& of);

}  // namespace dtype_guard::python
