// flash_ref_rwkv7_fwd: arguments to problem, problem to backend.
#include <algorithm>
#include <string_view>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"
#include "kernels/launch/overlap.h"
#include "kernels/launch/rwkv7_operands.h"
#include "kernels/launch/scratch.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefRwkv7Fwd, "r", "w", "k", "v", "a", "b", "initial_state", "out",
                        "final_state"),
              "rules/contracts/flash_ref.json and the C signature differ");

static_assert(std::string_view(kFlashRefRwkv7Fwd.operands[0].accepted_names) ==
                  "float16, float32 or bfloat16",
              "cpu::rwkv7_fwd needs an instance for each accepted dtype");

struct Operands : Rwkv7Operands {
  Tensor out, final;
};

// final_state may be initial_state itself: each piece reads its rows before it writes them.
int read_outputs(const Call& call, const DLTensor& out, const DLTensor* final_state, Operands& operands) {
  if (int status = read_rwkv7_sequence(call, "out", out, true, operands, operands.out)) return status;
  if (int status = read_rwkv7_state(call, "final_state", final_state, true, operands, operands.final))
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

Rwkv7Problem make_problem(const Operands& operands, Element element, const flash_ref_rwkv7_options& options) {
  Rwkv7Problem problem = make_rwkv7_problem(operands, element, options);
  problem.out = operands.out.data;
  problem.final_state = reinterpret_cast<float*>(operands.final.data);
  std::copy_n(operands.out.strides, 4, problem.out_strides);
  std::copy_n(operands.final.strides, 4, problem.final_strides);
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
  if (int status = read_rwkv7_inputs(call, tensors, true, operands)) return status;
  if (int status = read_outputs(call, *out, final_state, operands)) return status;
  if (int status = read_rwkv7_options(call, options, settings)) return status;
  if (int status = check_rwkv7_workspace(call, operands, settings, {&operands.out, &operands.final}))
    return status;
  const Element element = element_of(r->dtype);
  if (int status = check_decay(call, operands.sequences[1], element)) return status;
  const Rwkv7Problem problem = make_problem(operands, element, settings);
  if (call.on_cuda()) return cuda::rwkv7_fwd(call, problem, place_of(call, settings));
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
  if (int status = check_dtypes(call, kFlashRefRwkv7Fwd, tensors, Rwkv7Operands::kSequences)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_rwkv7_inputs(call, tensors, false, operands)) return status;
  if (int status = read_rwkv7_options(call, options, settings)) return status;
  const Rwkv7Problem problem = make_rwkv7_problem(operands, element_of(r->dtype), settings);
  *bytes =
      call.on_cuda() ? 0 : workspace_for(0, cpu::rwkv7_scratch_bytes(problem), cpu::rwkv7_threads(problem));
  return FLASH_REF_OK;
}
