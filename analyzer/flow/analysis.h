// Evaluates lowered functions under precision settings and answers with findings. This is the engine's whole
// surface: IR in, findings out. See engine.h for the abstract interpretation behind it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/flow/findings/reached_calls.h"
#include "analyzer/flow/findings/unseen_calls.h"
#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/settings/analysis_options.h"
#include "rules/finding/finding.h"

namespace dtype_guard::flow {

// What arrives at a call that does not take it, whether or not that is worth a finding; also what is not
// known.
struct Refusal {
  std::uint32_t root = 0;
  std::string setting;
  Sink sink;
  Dtype dtype = Dtype::kUndefined;
};

struct AnalysisResult {
  std::vector<Finding> findings;  // merged over settings, fingerprints without ordinals
  // Roots that were given up; what the front end could not lower stays in Module::not_lowered.
  std::vector<NotLowered> not_analysed;
  std::vector<Refusal> refusals;
  std::vector<ReachedCall> calls;  // all that have a contract, reached or not
  std::vector<UnseenCall> unseen;  // spelt like attention, and not followed
  std::size_t steps = 0;           // instructions evaluated
  bool tells_half_types_apart = false;
  bool cut_short = false;  // by the total budget
  bool left_out = false;   // some roots, for want of work; they are among not_analysed
};

// Functions call each other across the whole module; link several files' modules first (link.h) for whole
// programs.
AnalysisResult analyse(const Module& module, const AnalysisOptions& options);

class Program;
// Roots that can come to a call that has a contract; with `through`, only those that may run one of these
// functions.
std::vector<std::uint32_t> roots_to_analyse(const Program& program,
                                            const std::vector<std::uint32_t>& through = {});
// Of those roots, those that may run one of these functions: all where none is named.
std::vector<std::uint32_t> roots_through(const Program& program, const std::vector<std::uint32_t>& roots,
                                         const std::vector<std::uint32_t>& through);
// From these roots alone.
AnalysisResult analyse(const Program& program, const std::vector<std::uint32_t>& roots,
                       const AnalysisOptions& options);

}  // namespace dtype_guard::flow
