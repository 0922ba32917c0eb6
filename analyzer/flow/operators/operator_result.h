// What one operator gives for one choice of its inputs: the table's dtype under every autocast state and rank
// that is possible here, and the origin of that dtype. A result is uncertain when these possibilities
// disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/flow/operators/participants.h"
#include "analyzer/flow/program/function_info.h"
#include "analyzer/flow/state/state.h"
#include "analyzer/flow/values/origins.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

struct OperatorSite {
  std::uint32_t function = 0;
  const Instruction* instruction = nullptr;
  const FunctionInfo* info = nullptr;
  bool of_module = false;  // in a method of a module, whose fields that are tensors are parameters
};

// Who says the dtype argument: the precision setting, the code, or what decides among several.
enum class StatedBy : std::uint8_t { kSetting, kCode, kChoice };
struct Statement {
  StatedBy by = StatedBy::kCode;
  StepId told = 0;  // the trail of the tensor that was asked for it
};

// Whether what it gives, or takes, hangs on which of the half types it is.
bool tells_half_types_apart(const Operator& op, std::string_view device, std::string_view torch_version);

class OperatorResults {
 public:
  OperatorResults(const Operator& op, OperatorSite site, const std::vector<ChosenInput>& inputs,
                  std::optional<Dtype> dtype_argument, Statement stated, Rank rank, Origins& origins,
                  SymbolSets& symbols);
  // Empty when PyTorch throws in every case.
  std::vector<Alternative> evaluate(std::string_view device, std::string_view torch_version,
                                    const AutocastState& autocast, Dtype default_dtype) const;

 private:
  bool rests_on_unknown() const;
  bool may_be_widened(std::string_view device, std::string_view torch_version) const;
  bool is_scalar_arithmetic() const;
  std::vector<OperatorInput> table_inputs(unsigned zero_dimensional) const;
  const ChosenInput* settling_operand() const;
  std::uint8_t lineage() const;
  SymbolSetId products() const;
  Alternative alternative(const OperatorOutcome& outcome) const;
  struct Deciding {
    const ChosenInput* promoted = nullptr;  // already wide by promotion
    const ChosenInput* raised = nullptr;    // already wide by a cast
    const ChosenInput* equal = nullptr;     // of the result's dtype
    const ChosenInput* narrow = nullptr;
    const ChosenInput* open = nullptr;     // of no known dtype: a float32 tensor decides beside it
    const ChosenInput* widened = nullptr;  // already wide because of one
  };
  Deciding deciding(Dtype result) const;
  Origin origin(Dtype result, bool by_autocast, const ChosenInput* narrow, const ChosenInput* wide) const;
  bool is_cast() const;
  Dtype state_again(Alternative& value, const Origin& first) const;
  bool goes_back_to_wide(const Alternative& value) const;
  const Instruction* made(const ChosenInput& input) const;
  std::string narrow_text(const ChosenInput& narrow) const;
  bool is_of_object(const ChosenInput& input) const;

  const Operator& op_;
  OperatorSite site_;
  const std::vector<ChosenInput>& inputs_;
  std::optional<Dtype> dtype_;
  Statement stated_;
  Rank rank_;
  Origins& origins_;
  SymbolSets& symbols_;
  std::vector<const ChosenInput*>
      ambiguous_;  // promoting inputs of which it is not known whether they have dimensions; one of each rank
};

}  // namespace dtype_guard::flow
