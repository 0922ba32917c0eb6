// A module and what is known of all of it, each by a pass of its own that runs when it is first asked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/program/called_modules.h"
#include "analyzer/flow/program/callers.h"
#include "analyzer/flow/program/calls_by_class.h"
#include "analyzer/flow/program/calls_of_objects.h"
#include "analyzer/flow/program/class_hierarchy.h"
#include "analyzer/flow/program/constructions.h"
#include "analyzer/flow/program/default_dtypes.h"
#include "analyzer/flow/program/dtype_questions.h"
#include "analyzer/flow/program/entered.h"
#include "analyzer/flow/program/fields.h"
#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/program/sink_facts.h"
#include "analyzer/flow/program/watched_body.h"

namespace dtype_guard::flow {

// Classes of which every object that the program makes is given half parameters, and half buffers.
struct ClassesMadeHalf {
  std::set<std::string> parameters, buffers;
};

class Program {
 public:
  explicit Program(const Module& module)
      : functions(module),
        calls_by_class(functions),
        entered(functions),
        sink_facts(module.functions.size()) {}
  // FunctionIndex says when it can be made of what was known before.
  Program(const Program& before, const std::vector<std::uint32_t>& bodies)
      : functions(before.functions, bodies),
        calls_by_class(functions, before.calls_by_class, bodies),
        entered(functions, before.entered, bodies),
        sink_facts(before.sink_facts, bodies) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const FunctionIndex functions;
  const CallsByClass calls_by_class;
  const Entered entered;
  const FunctionResults<SinkFacts> sink_facts;
  const WatchedBodies watched_bodies{functions};
  const Callers callers{functions};
  const DefaultDtypes default_dtypes{functions, callers};
  const ClassHierarchy classes{functions};
  const Fields fields{functions, classes};
  const DtypeQuestions questions{functions};
  const CallsOfObjects calls_of_objects{functions};
  const CalledModules called_modules{functions, classes};
  const Constructions constructions{functions};

  // Known once they were looked for (roots/all_roots.cpp).
  std::optional<std::vector<std::uint32_t>>& roots() const { return roots_; }

  // Known once that was looked for (roots/made_half.cpp), under that setting and release: what makes a class
  // half may ask for the dtype of an input.
  std::optional<ClassesMadeHalf>& made_half(const std::string& setting, const std::string& version) const {
    return made_half_[{setting, version}];
  }
  // As far as it is known there: of a program that makes the same classes half.
  void take_made_half(const Program& other) { made_half_ = other.made_half_; }

 private:
  mutable std::optional<std::vector<std::uint32_t>> roots_;
  mutable std::map<std::pair<std::string, std::string>, std::optional<ClassesMadeHalf>> made_half_;
};

}  // namespace dtype_guard::flow
