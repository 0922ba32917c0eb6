// What must hold of every program between its runs and what the analyser says. A property gives one line for
// each thing that does not hold; its tally says how much it looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/instructions.h"
#include "tests/oracle/runs.h"

namespace dtype_guard::oracle {

// Calls that generated programs make, and "probe", which takes everything.
const ContractSet& contracts();

struct Share {
  std::size_t of = 0, found = 0;
};
struct Tally {
  std::size_t programs = 0, runs = 0, runs_left_out = 0, not_all_runs = 0;
  std::map<std::string, std::size_t> assumptions;  // runs that each of them left out
  std::size_t arrivals = 0;                        // looked up in what the engine says
  std::size_t precise = 0;                         // of which it says one dtype
  std::size_t findings = 0;
  std::size_t of_setters = 0;                // findings of what a setter left behind
  std::size_t of_lambdas = 0;                // findings in lambdas that escape
  std::size_t of_constructors = 0;           // findings in methods of composed models
  std::size_t of_rare = 0;                   // findings in programs over the rarer instructions
  std::size_t of_checks = 0;                 // findings where checks say what an input is
  std::size_t contradicted = 0;              // findings of inputs that a check in the program never lets pass
  std::size_t unreached = 0;                 // findings at calls that no run comes to
  std::size_t unspoken = 0;                  // findings at calls to which the runs that were left out come
  std::size_t ordered = 0;                   // programs with a report that was made again in another order
  std::size_t fixes = 0;                     // that were made
  std::size_t given_up = 0;                  // programs that the engine gives up
  InstructionCounts instructions;            // that some run went through
  std::map<std::string, std::size_t> asked;  // of how many programs what is not asked of all was
  std::map<std::string, Share> known;        // by instruction: operands of one dtype in all runs, known to be
  std::map<std::string, Share> definite;     // by instruction: calls that break in every run, found definite
  std::map<std::string, Share> sometimes;    // the same of those that break in some, by promoted half data
};
struct Violation {
  std::string property, what;
};
using Violations = std::vector<Violation>;

// A program under one setting: its runs are made once.
struct Subject {
  const Module& module;  // with probes
  const Function& root;
  const flow::PrecisionSetting& setting;
  World world;
  Runs runs;
  flow::AnalysisOptions options;
};
World world_of(const flow::PrecisionSetting& setting);
Subject subject_of(const Module& module, const flow::PrecisionSetting& setting, bool named,
                   std::size_t most_runs, bool inputs_differ = false);

// known.cpp: what arrives in a run is among the alternatives; what is of one dtype in all runs is known to
// be.
void check_known(const Subject& subject, bool must_be_precise, Tally& tally, Violations& out);
// definite.cpp: a definite finding breaks in a run, and in every one in which its origin supplies the
// operand; what breaks in every run is found.
void check_definite(const Subject& subject, bool must_be_precise, Tally& tally, Violations& out);
// dead_arms.cpp: a branch of which no run takes an arm is a jump, and a phi has the arguments that some run
// takes.
Module without_dead_arms(Module module, const Passed& passed);
// What is reported with --strict only must be possible.
void check_possible(const Subject& subject, Violations& out);

// laws.cpp: a rewrite that changes nothing changes no finding, and less knowledge adds no definite one.
inline constexpr std::size_t kLaws = 9;
void check_law(std::size_t law, std::uint64_t seed, const Module& program, const Subject& subject,
               Tally& tally, Violations& out);
// joins.cpp: joining values and ranks hangs on no order, is idempotent, and above what is joined.
void check_joins(std::uint64_t seed, Violations& out);
// fixes.cpp: an offered fix leaves no breaking run of its finding, and begins none.
void check_fixes(const Module& program, const flow::PrecisionSetting& setting, std::size_t most_runs,
                 Tally& tally, Violations& out);
// order.cpp: settings, functions and files in any order give the same report; of a program, or of one of
// classes.
void check_order(std::uint64_t seed, const Module* program, Tally& tally, Violations& out);

}  // namespace dtype_guard::oracle
