// flash_ref_rotary: arguments to problem, problem to backend.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"
#include "kernels/launch/options.h"
#include "kernels/launch/overlap.h"
#include "kernels/launch/scratch.h"
#include "kernels/launch/tensor.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefRotary, "x", "cos", "sin", "out"),
              "rules/contracts/flash_ref.json and the C signature differ");

static_assert(std::string_view(kFlashRefRotary.operands[0].accepted_names) == "float16, float32 or bfloat16",
              "cpu::rotary needs an instance for each accepted dtype");

constexpr int kInputs = 3;  // x, cos, sin lead the operands

constexpr std::size_t kFirstSize = offsetof(flash_ref_rotary_options, seqlen_offset);  // in ABI version 1

struct Operands {
  Tensor x, cos, sin, out, offsets;
};

// The tables have a row for every position.
int check_positions(const Call& call, const Operands& operands, const flash_ref_rotary_options& options) {
  const std::int64_t seq = operands.x.sizes[1], batch = operands.x.sizes[0], rows = operands.cos.sizes[0];
  const auto fail = [&](std::int64_t offset) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "cos has shape %s; expected at least %lld rows: seq %lld and offset %lld",
                     TupleText(operands.cos.sizes, 2).c_str(), static_cast<long long>(seq + offset),
                     static_cast<long long>(seq), static_cast<long long>(offset));
  };
  if (operands.offsets.role == nullptr) {
    return options.seqlen_offset > rows - seq && seq > 0 ? fail(options.seqlen_offset) : FLASH_REF_OK;
  }
  // A question about shapes only, or numbers that the host does not see.
  if (operands.offsets.data == nullptr || call.on_cuda()) return FLASH_REF_OK;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int32_t offset =
        reinterpret_cast<const std::int32_t*>(operands.offsets.data)[b * operands.offsets.strides[0]];
    if (offset < 0) {
      return call.fail(FLASH_REF_BAD_VALUE, "options.seqlen_offsets[%lld] is %d; expected at least 0",
                       static_cast<long long>(b), static_cast<int>(offset));
    }
    if (seq > 0 && offset > rows - seq) return fail(offset);
  }
  return FLASH_REF_OK;
}

int read_offsets(const Call& call, const flash_ref_rotary_options& options, bool needs_data,
                 Operands& operands) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 58;
  if (options.seqlen_offset < 0 || options.seqlen_offset > kLargest) {
    return call.fail(FLASH_REF_BAD_OPTIONS, "options.seqlen_offset is %lld; expected 0 to %lld",
                     static_cast<long long>(options.seqlen_offset), static_cast<long long>(kLargest));
  }
  if (options.seqlen_offsets == nullptr) return check_positions(call, operands, options);
  if (options.seqlen_offset != 0) {
    return call.fail(FLASH_REF_BAD_OPTIONS,
                     "options.seqlen_offset is %lld; expected 0 with options.seqlen_offsets",
                     static_cast<long long>(options.seqlen_offset));
  }
  const DLTensor& given = *options.seqlen_offsets;
  constexpr const char* kRole = "options.seqlen_offsets";
  if (int status = check_option_dtype(call, kFlashRefRotary, kRole, given.dtype)) return status;
  if (int status = read_tensor(call, kRole, given, {1, "(batch)"}, needs_data, operands.offsets))
    return status;
  if (int status = check_sizes(call, operands.offsets, operands.x.sizes, "(batch of x)")) return status;
  return check_positions(call, operands, options);
}

int read_settings(const Call& call, const flash_ref_rotary_options* given, bool needs_data,
                  Operands& operands, flash_ref_rotary_options& options) {
  if (int status =
          read_options(call, given, kFirstSize, sizeof options, "flash_ref_rotary_options", &options))
    return status;
  if (int status = check_switch(call, "interleaved", options.interleaved)) return status;
  if (int status = check_switch(call, "conjugate", options.conjugate)) return status;
  if (int status = check_common_members(call, options.workspace, options.workspace_bytes, options.reserved))
    return status;
  if (int status = read_offsets(call, options, needs_data, operands)) return status;
  if (int status = check_apart(call, operands.out, operands.offsets)) return status;
  return check_isa(call);
}

int read_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data, Operands& operands) {
  const Shape table{2, "(positions, rotary_dim / 2)"};
  if (int status =
          read_tensor(call, "x", *tensors[0], {4, "(batch, seq, heads, dim)"}, needs_data, operands.x))
    return status;
  if (int status = read_tensor(call, "cos", *tensors[1], table, needs_data, operands.cos)) return status;
  if (int status = read_tensor(call, "sin", *tensors[2], table, needs_data, operands.sin)) return status;
  const std::int64_t dim = operands.x.sizes[3];
  if (operands.cos.sizes[1] > dim / 2) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "cos has shape %s; expected (positions, rotary_dim / 2) with rotary_dim <= %lld",
                     TupleText(operands.cos.sizes, 2).c_str(), static_cast<long long>(dim));
  }
  return check_sizes(call, operands.sin, operands.cos.sizes, "(the shape of cos)");
}

int read_output(const Call& call, const DLTensor& out, Operands& operands) {
  if (int status = read_tensor(call, "out", out, {4, "(batch, seq, heads, dim)"}, true, operands.out))
    return status;
  if (int status = check_sizes(call, operands.out, operands.x.sizes, "(the shape of x)")) return status;
  if (int status = check_own_memory(call, operands.out)) return status;
  for (const Tensor* table : {&operands.cos, &operands.sin}) {
    if (int status = check_apart(call, operands.out, *table)) return status;
  }
  return same_place(operands.x, operands.out) ? FLASH_REF_OK : check_apart(call, operands.out, operands.x);
}

RotaryProblem make_problem(const Operands& operands, Element element,
                           const flash_ref_rotary_options& options) {
  RotaryProblem problem{};
  problem.element = element;
  problem.x = operands.x.data;
  problem.cos = operands.cos.data;
  problem.sin = operands.sin.data;
  problem.out = operands.out.data;
  std::copy_n(operands.x.strides, 4, problem.x_strides);
  std::copy_n(operands.out.strides, 4, problem.out_strides);
  std::copy_n(operands.cos.strides, 2, problem.cos_strides);
  std::copy_n(operands.sin.strides, 2, problem.sin_strides);
  problem.batch = operands.x.sizes[0];
  problem.seq = operands.x.sizes[1];
  problem.heads = operands.x.sizes[2];
  problem.dim = operands.x.sizes[3];
  problem.pairs = operands.cos.sizes[1];
  problem.table_rows = operands.cos.sizes[0];
  problem.interleaved = options.interleaved != 0;
  problem.conjugate = options.conjugate != 0;
  problem.offset = options.seqlen_offset;
  problem.offsets = reinterpret_cast<const std::int32_t*>(operands.offsets.data);
  problem.offsets_stride = operands.offsets.strides[0];
  return problem;
}

int rotary(const DLTensor* x, const DLTensor* cos, const DLTensor* sin, DLTensor* out,
           const flash_ref_rotary_options* options) {
  const Call call("flash_ref_rotary");
  const DLTensor* const tensors[] = {x, cos, sin, out};
  Operands operands;
  flash_ref_rotary_options settings;
  if (int status = check_dtypes(call, kFlashRefRotary, tensors, 4)) return status;
  if (int status = read_inputs(call, tensors, true, operands)) return status;
  if (int status = read_output(call, *out, operands)) return status;
  if (int status = read_settings(call, options, true, operands, settings)) return status;
  if (operands.out.empty()) return FLASH_REF_OK;
  const RotaryProblem problem = make_problem(operands, element_of(x->dtype), settings);
  if (call.on_cuda()) return cuda::rotary(call, problem, place_of(call, settings));
  cpu::rotary(problem);
  return FLASH_REF_OK;
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_rotary(const DLTensor* x, const DLTensor* cos, const DLTensor* sin, DLTensor* out,
                     const flash_ref_rotary_options* options) {
  return observed(kFlashRefRotary, rotary, options, x, cos, sin, out);
}

int flash_ref_rotary_workspace(const DLTensor* x, const DLTensor* cos, const DLTensor* sin,
                               const flash_ref_rotary_options* options, size_t* bytes) {
  const Call call("flash_ref_rotary_workspace");
  const DLTensor* const tensors[] = {x, cos, sin};
  Operands operands;
  flash_ref_rotary_options settings;
  if (int status = check_dtypes(call, kFlashRefRotary, tensors, kInputs)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_inputs(call, tensors, false, operands)) return status;
  if (int status = read_settings(call, options, false, operands, settings)) return status;
  *bytes = 0;
  return FLASH_REF_OK;
}
