#include "sanitizer/sources/torch/call_operands.h"

#include "sanitizer/contracts/watched_call.h"

namespace dtype_guard::san::torch {
namespace {

// Of a record by schema the value at a position; of an autograd Function's the tensor at one, for those have
// no others.
const char* value_at(const Values& values, int argument) {
  if (argument < 0) return nullptr;
  const auto position = static_cast<std::size_t>(argument) & 0xffU,
             in_list = static_cast<std::size_t>(argument) >> 8;
  const char* value = position < values.count ? values.at(position) : nullptr;
  if (value == nullptr || in_list == 0) return value;
  if (!is_list(value)) return nullptr;
  const Values list = list_in(value);
  return in_list <= list.count ? list.at(in_list - 1) : nullptr;
}

bool is_defined(TensorView tensor) { return tensor.dtype() < kScalarTypeCount; }

bool has_elements(TensorView tensor) {
  constexpr std::size_t kMostDimensions = 64;
  if (tensor.dimensions() > kMostDimensions) return false;
  for (std::size_t i = 0; i < tensor.dimensions(); ++i)
    if (tensor.sizes()[i] <= 0) return false;
  return true;
}

DLDeviceType device_of(TensorView tensor) { return tensor.device_type() == kCuda ? kDLCUDA : kDLCPU; }

}  // namespace

CallOperands& CallOperands::operator=(const CallOperands& other) {
  for (std::size_t i = 0; i < kMaxOperands; ++i) {
    tensors_[i] = other.tensors_[i];
    list_[i] = other.list_[i] != nullptr ? &descriptors_[i] : nullptr;
    if (other.list_[i] != nullptr) descriptors_[i] = other.descriptors_[i];
  }
  return *this;
}

bool CallOperands::take(std::size_t i, TensorView tensor, Need need) {
  const bool has_memory = need == Need::kMemory;
  const std::uintptr_t data = has_memory ? tensor.storage() : 0;
  if (has_memory && (tensor.device_type() == kMeta || data == 0 || !has_elements(tensor))) return false;
  const std::uint32_t packed = kScalarTypes[tensor.dtype()].packed;
  if (packed == 0) return false;
  DLTensor& to = descriptors_[i];
  to = {};
  to.data = reinterpret_cast<void*>(data);
  to.device = {device_of(tensor), tensor.device_index() < 0 ? 0 : tensor.device_index()};
  to.ndim = has_memory ? static_cast<std::int32_t>(tensor.dimensions()) : 0;  // sizes may be symbols
  to.dtype = {static_cast<std::uint8_t>(packed >> 16), static_cast<std::uint8_t>(packed >> 8),
              static_cast<std::uint16_t>(packed & 0xffU)};
  to.shape = const_cast<std::int64_t*>(tensor.sizes());
  tensors_[i] = tensor.impl;
  list_[i] = &to;
  return true;
}

bool CallOperands::read(const RecordRow& row, const ApiContract& contract, const Record& record) {
  return read(row, contract, record, Need::kMemory);
}

bool CallOperands::read_dtypes(const RecordRow& row, const ApiContract& contract, const Record& record) {
  return read(row, contract, record, Need::kDtype);
}

bool CallOperands::read(const RecordRow& row, const ApiContract& contract, const Record& record, Need need) {
  const Values values = inputs_of(record);
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const char* value = value_at(values, row.arguments[i]);
    if (row.arguments[i] < 0) continue;  // the record does not have it
    const bool is_given = value != nullptr && is_tensor(value) && is_defined(tensor_in(value));
    if (!is_given && contract.operands[i].optional) continue;
    if (!is_given || !take(i, tensor_in(value), need)) return false;
  }
  return true;
}

bool CallOperands::read(const ApiContract& contract, const TensorImpl* const* tensors) {
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const bool is_given = tensors[i] != nullptr && is_defined({tensors[i]});
    if (!is_given && contract.operands[i].optional) continue;
    if (!is_given || !take(i, {tensors[i]}, Need::kMemory)) return false;
  }
  return true;
}

namespace {

// Norms compute in float32 and take their parameters so.
bool takes_mix(const RecordRow& row, const ApiContract& contract, const Record& record) {
  if (row.mix == AcceptedMix::kNone) return false;
  const Values values = inputs_of(record);
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const char* value = value_at(values, row.arguments[i]);
    if (value == nullptr || !is_tensor(value) || !tensor_in(value).has_float_dtype()) continue;
    const ScalarType dtype = tensor_in(value).dtype();
    if (i == 0 ? dtype != kHalf && dtype != kBFloat16 : dtype != kFloat) return false;
    if (row.mix == AcceptedMix::kFloatParametersOnCpu && tensor_in(value).device_type() != kCpu) return false;
  }
  return true;
}

}  // namespace

bool mixes_floats(const RecordRow& row, const ApiContract& contract, const Record& record) {
  const Values values = inputs_of(record);
  ScalarType first = kScalarTypeCount;
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const char* value = value_at(values, row.arguments[i]);
    if (value == nullptr || !is_tensor(value) || !tensor_in(value).has_float_dtype()) continue;
    const ScalarType dtype = tensor_in(value).dtype();
    if (first == kScalarTypeCount) first = dtype;
    if (first != dtype) return !takes_mix(row, contract, record);
  }
  return false;
}

std::int8_t CallOperands::device_type() const {
  for (std::size_t i = 0; i < kMaxOperands; ++i)
    if (list_[i] != nullptr) return TensorView{tensors_[i]}.device_type();
  return kCpu;
}

bool CallOperands::accepted(const ApiContract& contract) const {
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    if (list_[i] == nullptr) continue;
    const OperandContract& operand = contract.operands[i];
    const std::uint32_t own = packed_dtype(*list_[i]);
    const DLTensor* other = operand.same_as >= 0 ? list_[operand.same_as] : nullptr;
    if (operand.same_as >= 0 && (other == nullptr || packed_dtype(*other) == own)) continue;
    if (operand.accepts[0] == 0 && operand.same_as < 0) continue;
    bool is_listed = false;
    for (const std::uint32_t entry : operand.accepts) is_listed = is_listed || (entry != 0 && entry == own);
    if (!is_listed) return false;
  }
  return true;
}

}  // namespace dtype_guard::san::torch
