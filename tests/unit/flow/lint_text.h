// Runs the engine on IR text, so that a test is a small program and what must be said about it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/flow/analysis.h"

namespace dtype_guard::flow {

struct LintOptions {
  std::vector<std::string> settings;  // empty: the default set
  bool named = false;                 // the user named them
  std::string device = "cuda";
  bool strict = false;
  std::size_t step_budget = 500'000;
  std::size_t work_budget = AnalysisOptions().work_budget;
  std::vector<std::string> torch = {"2.13"};
};

// Instructions without a position get a line of their own, beyond any that a test writes.
AnalysisResult lint(const std::string& text, const LintOptions& options = {});

// "line rule role,role in function [settings]" for each finding, in order.
std::vector<std::string> summary(const AnalysisResult& result);
std::vector<std::string> findings(const std::string& text, const LintOptions& options = {});
// Every setting there is, as if the user had named them all.
LintOptions all_settings();
LintOptions all_settings_but_fp32();  // those that make a half model

// `main` with a kernel call at its end: q, k and v are what `body` leaves in %q, %k, %v (%1 to %3 are bf16
// inputs).
std::string attention_main(const std::string& body, const std::string& q, const std::string& k,
                           const std::string& v);

// Of a function with what `body` says: %1 and %2 are inputs of two dimensions, %3 and %4 a flag and a count
// that a caller decides, `v` is a variable, %5 and %10 are free to use: the number 2 and a shape.
std::vector<std::string> findings_of_body(const std::string& body, const std::string& setting);

}  // namespace dtype_guard::flow
