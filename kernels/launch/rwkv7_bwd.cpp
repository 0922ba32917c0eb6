// flash_ref_rwkv7_bwd: arguments to problem, problem to backend.
#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"
#include "kernels/launch/overlap.h"
#include "kernels/launch/rwkv7_operands.h"
#include "kernels/launch/scratch.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefRwkv7Bwd, "r", "w", "k", "v", "a", "b", "initial_state", "dout",
                        "dfinal_state", "dr", "dw", "dk", "dv", "da", "db", "dinitial_state"),
              "rules/contracts/flash_ref.json and the C signature differ");

constexpr int kGradients = 6;
constexpr const char* kNames[kGradients] = {"dr", "dw", "dk", "dv", "da", "db"};
constexpr int kDout = 7, kDfinal = 8, kFirstGradient = 9, kDinitial = 15, kOperands = 16;

struct Operands : Rwkv7Operands {
  Tensor dout, dfinal, gradients[kGradients], dinitial;
};

// Everything that is read, and what has been written before `gradient` in the order of the arguments.
int check_gradient(const Call& call, const Operands& operands, const Tensor& gradient) {
  if (int status = check_own_memory(call, gradient)) return status;
  for (const Tensor& input : operands.sequences) {
    if (int status = check_apart(call, gradient, input)) return status;
  }
  for (const Tensor* other : {&operands.initial, &operands.dout}) {
    if (int status = check_apart(call, gradient, *other)) return status;
  }
  for (const Tensor* other = operands.gradients; other < operands.gradients + kGradients; ++other) {
    if (other == &gradient) return check_apart(call, gradient, operands.dfinal);
    if (int status = check_apart(call, gradient, *other)) return status;
  }
  // dinitial_state, which may be dfinal_state itself: a head reads its part before it writes it.
  return same_place(gradient, operands.dfinal) ? FLASH_REF_OK : check_apart(call, gradient, operands.dfinal);
}

int read_gradients(const Call& call, const DLTensor* const* tensors, Operands& operands) {
  if (int status = read_rwkv7_sequence(call, "dout", *tensors[kDout], true, operands, operands.dout))
    return status;
  if (int status = read_rwkv7_state(call, "dfinal_state", tensors[kDfinal], true, operands, operands.dfinal))
    return status;
  for (int i = 0; i < kGradients; ++i) {
    Tensor& gradient = operands.gradients[i];
    if (int status =
            read_rwkv7_sequence(call, kNames[i], *tensors[kFirstGradient + i], true, operands, gradient))
      return status;
    if (int status = check_gradient(call, operands, gradient)) return status;
  }
  if (int status =
          read_rwkv7_state(call, "dinitial_state", tensors[kDinitial], true, operands, operands.dinitial))
    return status;
  return operands.dinitial.role == nullptr ? FLASH_REF_OK : check_gradient(call, operands, operands.dinitial);
}

Rwkv7Backward make_problem(const Operands& operands, Element element,
                           const flash_ref_rwkv7_options& options) {
  Rwkv7Backward problem{};
  problem.forward = make_rwkv7_problem(operands, element, options);
  void** const data[] = {&problem.dr, &problem.dw, &problem.dk, &problem.dv, &problem.da, &problem.db};
  Strides4* const strides[] = {&problem.dr_strides, &problem.dw_strides, &problem.dk_strides,
                               &problem.dv_strides, &problem.da_strides, &problem.db_strides};
  for (int i = 0; i < kGradients; ++i) {
    *data[i] = operands.gradients[i].data;
    std::copy_n(operands.gradients[i].strides, 4, *strides[i]);
  }
  problem.dout = operands.dout.data;
  problem.dfinal_state = reinterpret_cast<const float*>(operands.dfinal.data);
  problem.dinitial_state = reinterpret_cast<float*>(operands.dinitial.data);
  std::copy_n(operands.dout.strides, 4, problem.dout_strides);
  std::copy_n(operands.dfinal.strides, 4, problem.dfinal_strides);
  std::copy_n(operands.dinitial.strides, 4, problem.dinitial_strides);
  return problem;
}

int rwkv7_bwd(const DLTensor* r, const DLTensor* w, const DLTensor* k, const DLTensor* v, const DLTensor* a,
              const DLTensor* b, const DLTensor* initial_state, const DLTensor* dout,
              const DLTensor* dfinal_state, DLTensor* dr, DLTensor* dw, DLTensor* dk, DLTensor* dv,
              DLTensor* da, DLTensor* db, DLTensor* dinitial_state, const flash_ref_rwkv7_options* options) {
  const Call call("flash_ref_rwkv7_bwd");
  const DLTensor* const tensors[] = {r,  w,  k,  v,  a,  b,  initial_state, dout, dfinal_state,
                                     dr, dw, dk, dv, da, db, dinitial_state};
  Operands operands;
  flash_ref_rwkv7_options settings;
  if (int status = check_dtypes(call, kFlashRefRwkv7Bwd, tensors, kOperands)) return status;
  if (int status = read_rwkv7_inputs(call, tensors, true, operands)) return status;
  if (int status = read_gradients(call, tensors, operands)) return status;
  if (int status = read_rwkv7_options(call, options, settings)) return status;
  for (const Tensor& gradient : operands.gradients) {
    if (int status = check_rwkv7_workspace(call, operands, settings, {&gradient})) return status;
  }
  if (int status = check_rwkv7_workspace(call, operands, settings,
                                         {&operands.dout, &operands.dfinal, &operands.dinitial}))
    return status;
  const Element element = element_of(r->dtype);
  if (int status = check_decay(call, operands.sequences[1], element)) return status;
  const Rwkv7Backward problem = make_problem(operands, element, settings);
  if (call.on_cuda()) return cuda::rwkv7_bwd(call, problem, place_of(call, settings));
  return with_scratch(call, settings, 0, cpu::rwkv7_bwd_scratch_bytes(problem),
                      cpu::rwkv7_bwd_threads(problem),
                      [&](void* memory, int threads) { cpu::rwkv7_bwd(problem, memory, threads); });
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_rwkv7_bwd(const DLTensor* r, const DLTensor* w, const DLTensor* k, const DLTensor* v,
                        const DLTensor* a, const DLTensor* b, const DLTensor* initial_state,
                        const DLTensor* dout, const DLTensor* dfinal_state, DLTensor* dr, DLTensor* dw,
                        DLTensor* dk, DLTensor* dv, DLTensor* da, DLTensor* db, DLTensor* dinitial_state,
                        const flash_ref_rwkv7_options* options) {
  return observed(kFlashRefRwkv7Bwd, rwkv7_bwd, options, r, w, k, v, a, b, initial_state, dout, dfinal_state,
                  dr, dw, dk, dv, da, db, dinitial_state);
}

int flash_ref_rwkv7_bwd_workspace(const DLTensor* r, const DLTensor* w, const DLTensor* k, const DLTensor* v,
                                  const DLTensor* a, const DLTensor* b,
                                  const flash_ref_rwkv7_options* options, size_t* bytes) {
  const Call call("flash_ref_rwkv7_bwd_workspace");
  const DLTensor* const tensors[] = {r, w, k, v, a, b, nullptr};
  Operands operands;
  flash_ref_rwkv7_options settings;
  if (int status = check_dtypes(call, kFlashRefRwkv7Bwd, tensors, Rwkv7Operands::kSequences)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_rwkv7_inputs(call, tensors, false, operands)) return status;
  if (int status = read_rwkv7_options(call, options, settings)) return status;
  const Rwkv7Backward problem = make_problem(operands, element_of(r->dtype), settings);
  if (call.on_cuda()) {
    *bytes = cuda::rwkv7_bwd_workspace(problem);
    return FLASH_REF_OK;
  }
  *bytes = workspace_for(0, cpu::rwkv7_bwd_scratch_bytes(problem), cpu::rwkv7_bwd_threads(problem));
  return FLASH_REF_OK;
}
