#include "kernels/launch/rwkv7_operands.h"

#include <algorithm>
#include <cmath>

#include "kernels/launch/options.h"
#include "kernels/launch/overlap.h"

namespace flash_ref {
namespace {

constexpr const char* kNames[Rwkv7Operands::kSequences] = {"r", "w", "k", "v", "a", "b"};
constexpr std::int64_t kLargestRwkv7Dim = 4096;

// As integers the positive numbers lie from 1 to `infinity`; above them are the NaNs, then the negative
// numbers.
template <class Bits>
std::int64_t first_positive(const char* row, std::int64_t stride, std::int64_t count, Bits infinity) {
  const auto positive = [infinity](Bits bits) { return static_cast<Bits>(bits - 1) < infinity; };
  const Bits* bits = reinterpret_cast<const Bits*>(row);
  unsigned any = 0;
  if (stride == 1) {  // without a jump, so that the compiler makes vectors of it
    for (std::int64_t i = 0; i < count; ++i) any |= positive(bits[i]) ? 1U : 0U;
    if (any == 0) return count;
  }
  std::int64_t i = 0;
  while (i < count && !positive(bits[i * stride])) ++i;
  return i;
}

std::int64_t first_positive(const char* row, std::int64_t stride, std::int64_t count, Element element) {
  if (element == Element::kFloat32) return first_positive<std::uint32_t>(row, stride, count, 0x7f800000U);
  const auto infinity = static_cast<std::uint16_t>(element == Element::kFloat16 ? 0x7c00 : 0x7f80);
  return first_positive<std::uint16_t>(row, stride, count, infinity);
}

}  // namespace

int read_rwkv7_sequence(const Call& call, const char* role, const DLTensor& given, bool needs_data,
                        const Rwkv7Operands& operands, Tensor& tensor) {
  const Shape shape{4, "(batch, seq, heads, dim)"};
  if (int status = read_tensor(call, role, given, shape, needs_data, tensor)) return status;
  return check_sizes(call, tensor, operands.sizes(), "(the shape of r)");
}

int read_rwkv7_state(const Call& call, const char* role, const DLTensor* given, bool needs_data,
                     const Rwkv7Operands& operands, Tensor& state) {
  if (given == nullptr) return FLASH_REF_OK;
  if (int status = read_tensor(call, role, *given, {4, "(batch, heads, dim, dim)"}, needs_data, state))
    return status;
  const std::int64_t* r = operands.sizes();
  const std::int64_t expected[] = {r[0], r[2], r[3], r[3]};
  return check_sizes(call, state, expected, "(batch, heads, dim and dim of r)");
}

int read_rwkv7_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data,
                      Rwkv7Operands& operands) {
  for (int i = 0; i < Rwkv7Operands::kSequences; ++i) {
    Tensor& tensor = operands.sequences[i];
    if (int status = read_rwkv7_sequence(call, kNames[i], *tensors[i], needs_data, operands, tensor))
      return status;
  }
  if (operands.sizes()[3] > kLargestRwkv7Dim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "r has shape %s; dim can be %lld at most",
                     TupleText(operands.sizes(), 4).c_str(), static_cast<long long>(kLargestRwkv7Dim));
  }
  return read_rwkv7_state(call, "initial_state", tensors[Rwkv7Operands::kSequences], needs_data, operands,
                          operands.initial);
}

int check_rwkv7_workspace(const Call& call, const Rwkv7Operands& operands,
                          const flash_ref_rwkv7_options& options,
                          std::initializer_list<const Tensor*> others) {
  for (const Tensor& sequence : operands.sequences) {
    if (int status = check_workspace(call, options, {&sequence, &operands.initial})) return status;
  }
  return check_workspace(call, options, others);
}

int check_decay(const Call& call, const Tensor& w, Element element) {
  if (call.on_cuda()) return FLASH_REF_OK;  // out of the host's sight
  std::int64_t at[4];
  for (at[0] = 0; at[0] < w.sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < w.sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < w.sizes[2]; ++at[2]) {
        const char* row =
            w.data + (at[0] * w.strides[0] + at[1] * w.strides[1] + at[2] * w.strides[2]) * w.element_bytes;
        at[3] = first_positive(row, w.strides[3], w.sizes[3], element);
        if (at[3] == w.sizes[3]) continue;
        return call.fail(FLASH_REF_BAD_VALUE,
                         "w%s is positive; expected the logarithm of a decay, at most 0, such as "
                         "-exp(-0.5) * sigmoid(x) for a pre-activation x",
                         TupleText(at, 4).c_str());
      }
    }
  }
  return FLASH_REF_OK;
}

int read_rwkv7_options(const Call& call, const flash_ref_rwkv7_options* given,
                       flash_ref_rwkv7_options& options) {
  if (int status =
          read_options(call, given, sizeof options, sizeof options, "flash_ref_rwkv7_options", &options))
    return status;
  if (!std::isfinite(options.scale)) {
    return call.fail(FLASH_REF_BAD_OPTIONS, "options.scale is %g; expected a finite number",
                     static_cast<double>(options.scale));
  }
  const std::uint32_t reserved = options.reserved != 0 ? options.reserved : options.reserved_too;
  if (int status = check_common_members(call, options.workspace, options.workspace_bytes, reserved))
    return status;
  return check_isa(call);
}

Rwkv7Problem make_rwkv7_problem(const Rwkv7Operands& operands, Element element,
                                const flash_ref_rwkv7_options& options) {
  Rwkv7Problem problem{};
  const void** const data[] = {&problem.r, &problem.w, &problem.k, &problem.v, &problem.a, &problem.b};
  Strides4* const strides[] = {&problem.r_strides, &problem.w_strides, &problem.k_strides,
                               &problem.v_strides, &problem.a_strides, &problem.b_strides};
  for (int i = 0; i < Rwkv7Operands::kSequences; ++i) {
    *data[i] = operands.sequences[i].data;
    std::copy_n(operands.sequences[i].strides, 4, *strides[i]);
  }
  problem.element = element;
  problem.initial_state = reinterpret_cast<const float*>(operands.initial.data);
  std::copy_n(operands.initial.strides, 4, problem.initial_strides);
  problem.batch = operands.sizes()[0];
  problem.seq = operands.sizes()[1];
  problem.heads = operands.sizes()[2];
  problem.dim = operands.sizes()[3];
  problem.scale = options.scale == 0 ? 1.0F : options.scale;
  return problem;
}

}  // namespace flash_ref
