// What arrived at one call that has a contract: the rules are queries on these records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/flow/state/state.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::flow {

// One operand of a sink as it arrived: alternatives of kind kTensor, kNone or kUnknown.
struct SinkOperand {
  std::string role;
  std::vector<Alternative> alternatives;
  ValueId value = 0;  // of what a check asks
};
// Whether the dtype is known on every way to the call: absent counts as known.
bool is_known(const SinkOperand& operand);

// Where something arrived: at a call or product, or what is recorded like one.
// kOtherStore: what it wrote comes to no call that has a contract, of which the root has some.
enum class SinkPlace : std::uint8_t { kCall, kStore, kOtherStore, kLayer, kCheck, kLeaving, kHandedOn };
struct SinkRecord {
  const Api* api = nullptr;
  SinkPlace place = SinkPlace::kCall;
  std::uint32_t root = 0;  // whose evaluation came to it
  std::uint32_t function = 0;
  const Instruction* instruction = nullptr;
  ContextId context = 0;
  std::vector<SinkOperand> operands;
  AutocastState autocast;
  Guards guards;  // passed on the way to the call
  bool others_are_guessed = false;
  bool makes_bias = false;  // of a layer: what it gives is added to attention scores
  bool must_suit = false;   // of a layer: what it gives meets half operands in a call that wants them equal
  std::vector<PassedTest> tests;
};

}  // namespace dtype_guard::flow
