// What is evaluated, and how: the same for all parts of one engine. And what they give names to things by.
#pragma once

#include <string>

#include "analyzer/flow/engine/identities.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/settings/analysis_options.h"
#include "analyzer/flow/values/origins.h"
#include "analyzer/flow/values/symbols.h"

namespace dtype_guard::flow {

struct Subject {
  const Program& program;
  const FunctionIndex& index;
  const AnalysisOptions& options;
  const PrecisionSetting& setting;
  const std::string& torch_version;
};

// Facts that hold in any run, but for what is of the running one (RunApart puts that by).
struct Names {
  Origins origins;
  SymbolSets symbols;
  Identities ids{symbols};
};

}  // namespace dtype_guard::flow
