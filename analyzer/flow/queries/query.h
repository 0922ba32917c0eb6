// A rule is a question about defects. A Defect is one operand of one recorded call that breaks the call's
// contract: which alternative of it, against which other operands, and where its dtype came from. Finding the
// defects is common to all rules (query.cpp); each rule is one small file that says which defects are its
// own.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/flow/engine.h"

namespace dtype_guard::flow {

struct Defect {
  const SinkRecord* record = nullptr;
  const Operand* operand = nullptr;      // the contract's
  const SinkOperand* arrived = nullptr;  // what came
  Alternative alternative;               // the one that breaks the contract
  const Origin* origin = nullptr;        // of its dtype; null: the setting's own
  bool unsupported = false;              // not in the set that the operand takes
  std::vector<const SinkOperand*> differs_from;
  bool definite = false;
};

struct DefectOptions {
  bool named_by_user = false;  // the setting is evidence by itself
  bool closed = false;         // the root is main: nothing was assumed
  std::string_view device;
  std::string_view torch_version;
};
// Only those with evidence that the path is meant to be half.
std::vector<Defect> find_defects(const SinkRecord& record, const Origins& origins, SymbolSets& symbols,
                                 const DefectOptions& options);

struct Query {
  std::string_view rule;
  bool (*fits)(const Defect& defect);
};
bool fits_kv_cache_mismatch(const Defect& defect);
bool fits_rotary_mismatch(const Defect& defect);
bool fits_mask_dtype(const Defect& defect);
bool fits_autocast_fp32_operator(const Defect& defect);
bool fits_implicit_promotion(const Defect& defect);
bool fits_mixed_dtypes(const Defect& defect);
bool fits_unsupported_dtype(const Defect& defect);

// In order of precedence: the first that fits is reported, the others are its also_rules.
const std::vector<Query>& queries();

}  // namespace dtype_guard::flow
