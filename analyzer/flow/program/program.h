// A module and what is known of all of it, each by a pass of its own that runs when it is first asked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/program/called_modules.h"
#include "analyzer/flow/program/callers.h"
#include "analyzer/flow/program/calls_of_objects.h"
#include "analyzer/flow/program/class_hierarchy.h"
#include "analyzer/flow/program/constructions.h"
#include "analyzer/flow/program/dtype_questions.h"
#include "analyzer/flow/program/field_stores.h"
#include "analyzer/flow/program/field_uses.h"
#include "analyzer/flow/program/field_writes.h"
#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/program/halves.h"

namespace dtype_guard::flow {

class Program {
 public:
  explicit Program(const Module& module) : functions(module) {}
  // FunctionIndex says when it can be made of what was known before.
  Program(const Program& before, const std::vector<std::uint32_t>& bodies)
      : functions(before.functions, bodies) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const FunctionIndex functions;
  const Callers callers{functions};
  const ClassHierarchy classes{functions};
  const FieldWrites writes{functions, classes};
  const FieldStores stores{functions, classes};
  const FieldUses uses{functions, classes};
  const DtypeQuestions questions{functions};
  const CallsOfObjects calls_of_objects{functions};
  const CalledModules called_modules{functions, classes};
  const Constructions constructions{functions};

  // Known once they were looked for (roots/all_roots.cpp).
  std::optional<std::vector<std::uint32_t>>& roots() const { return roots_; }

  // Known once that was looked for (roots/made_half.cpp), under that setting and release: what makes a class
  // half may ask for the dtype of an input.
  std::shared_ptr<const ClassesMadeHalf>& made_half(const std::string& setting,
                                                    const std::string& version) const {
    return made_half_[{setting, version}];
  }
  // Of which roots that is known, by all that decides about it.
  HalvesByRoot& halves_by_root() const { return halves_by_root_; }
  // Roots by how many of them run each, by the roots (roots/made_half.cpp).
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>>& callers_first() const {
    return callers_first_;
  }

 private:
  mutable std::optional<std::vector<std::uint32_t>> roots_;
  mutable std::map<std::pair<std::string, std::string>, std::shared_ptr<const ClassesMadeHalf>> made_half_;
  mutable HalvesByRoot halves_by_root_;
  mutable std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> callers_first_;
};

}  // namespace dtype_guard::flow
