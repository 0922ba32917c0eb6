// A rule is a question about defects. A Defect is one operand of one recorded call that breaks the call's
// contract: which alternative of it, against which other operands, and where its dtype came from. Finding the
// defects is common to all rules (query.cpp); each rule is one small file that says which defects are its
// own.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/operators/widened.h"

namespace dtype_guard::flow {

struct Defect {
  const SinkRecord* record = nullptr;
  const Operand* operand = nullptr;      // the contract's
  const SinkOperand* arrived = nullptr;  // what came
  Alternative alternative;               // the one that breaks the contract
  const Origin* origin = nullptr;        // of its dtype; null: the setting's own
  const Origins* origins = nullptr;
  const FunctionIndex* index = nullptr;
  bool unsupported = false;  // not in the set that the operand takes
  std::vector<const SinkOperand*> differs_from;
  bool module_is_half = false;  // modules are converted to half, in the code or by the setting
  bool slow = false;            // taken, without the fast kernels that the half dtypes have
  bool definite = false;
  std::vector<Dtype> either;  // one of these arrives, and it is not known which; empty: `alternative` does
  bool stated = false;        // does not rest on which half dtype the setting chose
  bool breaks_contract() const { return unsupported || !differs_from.empty(); }
};

struct DefectOptions {
  bool named_by_user = false;  // the setting is evidence by itself
  bool module_is_half = false;
  bool closed = false;  // the root is main: nothing was assumed
  std::uint32_t root = 0;
  std::string_view device;
  std::string_view torch_version;
};
// Only those with evidence that the path is meant to be half.
std::vector<Defect> find_defects(const SinkRecord& record, Engine& engine, const DefectOptions& options);
// All that break the contract, evidence or not.
std::vector<Defect> find_breaches(const SinkRecord& record, Engine& engine, const DefectOptions& options);

// evidence.cpp: what speaks for a path that is meant to be half, of a defect alone.
bool is_known(const Alternative& each);
// Typed pointers and the like: the code itself says that this operand is half, and what the call gets beside
// it.
bool is_contradicted_by_code(const Defect& defect);

// Whether each of two operands that must be equal is one thing only, and the two differ.
bool differs_on_every_way(const Defect& defect, const SymbolSets& symbols);

struct Query {
  std::string_view rule;
  bool (*fits)(const Defect& defect);
  // The step that is the place to edit; null: the origin of the dtype is.
  const Step* (*place)(const Defect& defect) = nullptr;
};
// A product of attention by hand that takes operands which a promotion made wide.
bool is_computed_wide(const Defect& defect);
const Step* discarded_cast(const Defect& defect);
const PassedTest* missed_by_test(const Defect& defect);
const Step* plain_member(const Defect& defect);
const Step* wrong_description(const Defect& defect);
bool fits_discarded_cast(const Defect& defect);
bool fits_guard_misses_promotion(const Defect& defect);
bool fits_unregistered_buffer(const Defect& defect);
bool fits_dlpack_mismatch(const Defect& defect);
bool fits_kv_cache_mismatch(const Defect& defect);
bool fits_rotary_mismatch(const Defect& defect);
bool fits_mask_dtype(const Defect& defect);
bool fits_autocast_fp32_operator(const Defect& defect);
bool fits_implicit_promotion(const Defect& defect);
bool fits_mixed_dtypes(const Defect& defect);
bool fits_operator_mixed_dtypes(const Defect& defect);
// Of a layer: whether its input is what it does not take, without a cast that asks for it.
bool is_refused_unasked(const Defect& defect);
// Of a layer or store: what no half value was widened to is wide by the code alone. The call is the place to
// edit: what made it (a table of sines) may serve others.
bool is_never_half(const Defect& defect);
// Whether a model whose weights are as the setting has them would refuse it, were it run.
bool may_be_refused(const Defect& defect);
bool fits_unsupported_dtype(const Defect& defect);
bool fits_silent_fallback(const Defect& defect);

// In order of precedence: the first that fits is reported, the others are its also_rules.
const std::vector<Query>& queries();

}  // namespace dtype_guard::flow
