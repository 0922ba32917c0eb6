// flash_ref_rwkv7_fwd: arguments to problem, problem to backend.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"
#include "kernels/launch/options.h"
#include "kernels/launch/scratch.h"
#include "kernels/launch/tensor.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefRwkv7Fwd, "r", "w", "k", "v", "a", "b", "initial_state", "out",
                        "final_state"),
              "rules/contracts/flash_ref.json and the C signature differ");

static_assert(std::string_view(kFlashRefRwkv7Fwd.operands[0].accepted_names) ==
                  "float16, float32 or bfloat16",
              "cpu::rwkv7_fwd needs an instance for each accepted dtype");

constexpr int kSequences = 6;  // r, w, k, v, a, b
constexpr const char* kNames[kSequences] = {"r", "w", "k", "v", "a", "b"};
constexpr std::int64_t kLargestDim = 4096;

struct Operands {
  Tensor sequences[kSequences], initial, out, final;
  const std::int64_t* sizes() const { return sequences[0].sizes; }
};

int read_state(const Call& call, const char* role, const DLTensor* given, bool needs_data,
               const Operands& operands, Tensor& state) {
  if (given == nullptr) return FLASH_REF_OK;
  if (int status = read_tensor(call, role, *given, {4, "(batch, heads, dim, dim)"}, needs_data, state))
    return status;
  const std::int64_t* r = operands.sizes();
  const std::int64_t expected[] = {r[0], r[2], r[3], r[3]};
  return check_sizes(call, state, expected, "(batch, heads, dim and dim of r)");
}

int read_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data, Operands& operands) {
  for (int i = 0; i < kSequences; ++i) {
    Tensor& tensor = operands.sequences[i];
    const Shape shape{4, "(batch, seq, heads, dim)"};
    if (int status = read_tensor(call, kNames[i], *tensors[i], shape, needs_data, tensor)) return status;
    if (int status = check_sizes(call, tensor, operands.sizes(), "(the shape of r)")) return status;
  }
  if (operands.sizes()[3] > kLargestDim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "r has shape %s; dim can be %lld at most",
                     TupleText(operands.sizes(), 4).c_str(), static_cast<long long>(kLargestDim));
  }
  return read_state(call, "initial_state", tensors[kSequences], needs_data, operands, operands.initial);
}

// final_state may be initial_state itself: each piece reads its rows before it writes them.
int read_outputs(const Call& call, const DLTensor& out, const DLTensor* final_state, Operands& operands) {
  if (int status = read_tensor(call, "out", out, {4, "(batch, seq, heads, dim)"}, true, operands.out))
    return status;
  if (int status = check_sizes(call, operands.out, operands.sizes(), "(the shape of r)")) return status;
  if (int status = read_state(call, "final_state", final_state, true, operands, operands.final))
    return status;
  for (const Tensor* output : {&operands.out, &operands.final}) {
    if (int status = check_own_memory(call, *output)) return status;
    for (const Tensor& input : operands.sequences) {
      if (int status = check_apart(call, *output, input)) return status;
    }
  }
  if (int status = check_apart(call, operands.out, operands.initial)) return status;
  if (int status = check_apart(call, operands.final, operands.out)) return status;
  if (same_place(operands.final, operands.initial)) return FLASH_REF_OK;
  return check_apart(call, operands.final, operands.initial);
}

// A positive element would make the state grow: it is no log decay, but perhaps the activation that one is
// made of.
int check_decay(const Call& call, const Tensor& w, Element element) {
  const std::uint32_t infinity = element == Element::kFloat32   ? 0x7f800000U
                                 : element == Element::kFloat16 ? 0x7c00U
                                                                : 0x7f80U;
  std::int64_t at[4];
  for (at[0] = 0; at[0] < w.sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < w.sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < w.sizes[2]; ++at[2]) {
        for (at[3] = 0; at[3] < w.sizes[3]; ++at[3]) {
          std::int64_t offset = 0;
          for (int i = 0; i < 4; ++i) offset += at[i] * w.strides[i];
          std::uint32_t bits = 0;  // above infinity are the NaNs, then the negative numbers
          std::memcpy(&bits, w.data + offset * w.element_bytes, static_cast<std::size_t>(w.element_bytes));
          if (bits == 0 || bits > infinity) continue;
          return call.fail(FLASH_REF_BAD_VALUE,
                           "w%s is positive; expected the logarithm of a decay, at most 0, such as "
                           "-exp(-0.5) * sigmoid(x) for a pre-activation x",
                           TupleText(at, 4).c_str());
        }
      }
    }
  }
  return FLASH_REF_OK;
}

int read_settings(const Call& call, const flash_ref_rwkv7_options* given, flash_ref_rwkv7_options& options) {
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

Rwkv7Problem make_problem(const Operands& operands, Element element, const flash_ref_rwkv7_options& options) {
  Rwkv7Problem problem{};
  const void** const data[] = {&problem.r, &problem.w, &problem.k, &problem.v, &problem.a, &problem.b};
  Strides4* const strides[] = {&problem.r_strides, &problem.w_strides, &problem.k_strides,
                               &problem.v_strides, &problem.a_strides, &problem.b_strides};
  for (int i = 0; i < kSequences; ++i) {
    *data[i] = operands.sequences[i].data;
    std::copy_n(operands.sequences[i].strides, 4, *strides[i]);
  }
  problem.element = element;
  problem.out = operands.out.data;
  problem.initial_state = reinterpret_cast<const float*>(operands.initial.data);
  problem.final_state = reinterpret_cast<float*>(operands.final.data);
  std::copy_n(operands.out.strides, 4, problem.out_strides);
  std::copy_n(operands.initial.strides, 4, problem.initial_strides);
  std::copy_n(operands.final.strides, 4, problem.final_strides);
  problem.batch = operands.sizes()[0];
  problem.seq = operands.sizes()[1];
  problem.heads = operands.sizes()[2];
  problem.dim = operands.sizes()[3];
  problem.scale = options.scale == 0 ? 1.0F : options.scale;
  return problem;
}

int rwkv7_fwd(const DLTensor* r, const DLTensor* w, const DLTensor* k, const DLTensor* v, const DLTensor* a,
              const DLTensor* b, const DLTensor* initial_state, DLTensor* out, DLTensor* final_state,
              const flash_ref_rwkv7_options* options) {
  const Call call("flash_ref_rwkv7_fwd");
  const DLTensor* const tensors[] = {r, w, k, v, a, b, initial_state, out, final_state};
  Operands operands;
  flash_ref_rwkv7_options settings;
  if (int status = check_dtypes(call, kFlashRefRwkv7Fwd, tensors, 9)) return status;
  if (int status = read_inputs(call, tensors, true, operands)) return status;
  if (int status = read_outputs(call, *out, final_state, operands)) return status;
  if (int status = read_settings(call, options, settings)) return status;
  const Element element = element_of(r->dtype);
  if (int status = check_decay(call, operands.sequences[1], element)) return status;
  const Rwkv7Problem problem = make_problem(operands, element, settings);
  return with_scratch(call, settings, 0, cpu::rwkv7_scratch_bytes(problem), cpu::rwkv7_threads(problem),
                      [&](void* memory, int threads) { cpu::rwkv7_fwd(problem, memory, threads); });
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_rwkv7_fwd(const DLTensor* r, const DLTensor* w, const DLTensor* k, const DLTensor* v,
                        const DLTensor* a, const DLTensor* b, const DLTensor* initial_state, DLTensor* out,
                        DLTensor* final_state, const flash_ref_rwkv7_options* options) {
  return observed(kFlashRefRwkv7Fwd, rwkv7_fwd, options, r, w, k, v, a, b, initial_state, out, final_state);
}

int flash_ref_rwkv7_fwd_workspace(const DLTensor* r, const DLTensor* w, const DLTensor* k, const DLTensor* v,
                                  const DLTensor* a, const DLTensor* b,
                                  const flash_ref_rwkv7_options* options, size_t* bytes) {
  const Call call("flash_ref_rwkv7_fwd_workspace");
  const DLTensor* const tensors[] = {r, w, k, v, a, b, nullptr};
  Operands operands;
  flash_ref_rwkv7_options settings;
  if (int status = check_dtypes(call, kFlashRefRwkv7Fwd, tensors, kSequences)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_inputs(call, tensors, false, operands)) return status;
  if (int status = read_settings(call, options, settings)) return status;
  const Rwkv7Problem problem = make_problem(operands, element_of(r->dtype), settings);
  *bytes = workspace_for(0, cpu::rwkv7_scratch_bytes(problem), cpu::rwkv7_threads(problem));
  return FLASH_REF_OK;
}
