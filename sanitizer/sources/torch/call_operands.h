// The operands of a call that a contract speaks of, as descriptors, read from its record.
#pragma once

#include <dlpack/dlpack.h>

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/sources/torch/record_reader.h"

namespace dtype_guard::san::torch {

class CallOperands {
 public:
  CallOperands() = default;
  CallOperands(const CallOperands&) = delete;
  CallOperands& operator=(const CallOperands& other);
  // False where nothing is to be said of the call: a required operand is missing, or one has no memory, as
  // those of tracing have (meta, fake and batched tensors).
  bool read(const RecordRow& row, const ApiContract& contract, const Record& record);
  // The same of operands that may have no memory: their dtypes, which they have as any others.
  bool read_dtypes(const RecordRow& row, const ApiContract& contract, const Record& record);

  // Of a call without a record: its tensors by operand, nullptr where one was not given or cannot be read.
  bool read(const ApiContract& contract, const TensorImpl* const* tensors);

  bool accepted(const ApiContract& contract) const;
  const DLTensor* const* list() const { return list_; }
  // Of the first that is there.
  std::int8_t device_type() const;

 private:
  enum class Need : std::uint8_t { kMemory, kDtype };
  bool read(const RecordRow& row, const ApiContract& contract, const Record& record, Need need);
  bool take(std::size_t i, TensorView tensor, Need need);

  const TensorImpl* tensors_[kMaxOperands] = {};
  DLTensor descriptors_[kMaxOperands];
  const DLTensor* list_[kMaxOperands] = {};
};

// Whether floating operands of more than one dtype are among them that the operator does not take together;
// what most calls of an operator are asked.
bool mixes_floats(const RecordRow& row, const ApiContract& contract, const Record& record);

}  // namespace dtype_guard::san::torch
