// Functions that the program hands casts only: with inputs as the setting has them they break a call, and
// their callers widen these first, on purpose.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

class CallerCasts {
 public:
  CallerCasts(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
              const std::string& torch_version, Work& work)
      : program_(program), options_(options), setting_(setting), torch_version_(torch_version), work_(work) {}

  // Whether each function that calls the root hands the call what it cast to a wide dtype itself, and the
  // call takes it.
  bool settle(std::uint32_t root, const Defect& defect, const DefectOptions& how);

 private:
  struct Arrived {
    const Instruction* instruction = nullptr;
    // For each operand that was cast to a wide dtype: the functions that did.
    std::vector<std::set<std::uint32_t>> cast_in;
    bool breaks = false;
  };
  std::vector<std::uint32_t> callers_of(std::uint32_t root) const;
  const std::vector<Arrived>& arrived_from(std::uint32_t caller, const DefectOptions& how);

  const Program& program_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const std::string& torch_version_;
  Work& work_;
  std::map<std::uint32_t, std::vector<Arrived>> known_;  // by caller
};

}  // namespace dtype_guard::flow
