#include "sanitizer/sources/torch/probe.h"

#include <dlpack/dlpack.h>

#include <cstring>

#include "sanitizer/sources/torch/layout_search.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kElements = 32;

// Two products (bf16 * f32 -> f64, f16 * int64 -> bf16) and a stack of two into one: dtypes and shapes that
// nothing else in a TensorImpl is likely to look like.
constexpr std::size_t kWitnesses = 9;
struct Plan {
  ScalarType dtype;
  std::size_t dimensions;
  std::int64_t sizes[Witness::kMostDimensions];
};
constexpr Plan kPlans[kWitnesses] = {
    {kBFloat16, 2, {3, 5, 0}}, {kFloat, 2, {3, 5, 0}},  {kDouble, 2, {3, 5, 0}},
    {kHalf, 3, {2, 1, 7}},     {kLong, 3, {2, 1, 7}},   {kBFloat16, 3, {2, 1, 7}},
    {kFloat, 1, {11, 0, 0}},   {kFloat, 1, {11, 0, 0}}, {kFloat, 2, {2, 11, 0}},
};
constexpr std::size_t kProductSize = 3;

struct Ground {
  alignas(64) double memory[kWitnesses][kElements];
  DLManagedTensor managed[kWitnesses];
  Tensor tensors[kWitnesses];
  Witness witnesses[kWitnesses];
  std::int64_t strides[kWitnesses][Witness::kMostDimensions];
};
constinit Ground ground = {};

// What the callbacks below look for; they run on other threads of the job too.
struct Search {
  std::uintptr_t thread = 0;
  const Library* library = nullptr;
  const char* expected = nullptr;  // name of the operator; its first record is looked at
  const Witness* operands[kProductSize] = {};
  const Witness* result = nullptr;
  Layout* layout = nullptr;
  const Record* record = nullptr;
  bool is_stack = false;
  Candidates inputs, outputs, lists;
  std::uint32_t records = 0, other_tags = 0;
};
constinit Search search = {};

std::uintptr_t this_thread() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

bool is_awaited(const Record& record) {
  return search.thread == this_thread() && search.expected != nullptr &&
         std::strcmp(search.library->name(&record), search.expected) == 0;
}

// The list is the first operand, at the place that the products have shown.
void look_at_list(const Record& record) {
  std::uintptr_t values = 0, list = 0;
  std::memcpy(&values, reinterpret_cast<const char*>(&record) + search.layout->inputs, sizeof values);
  std::memcpy(&list, reinterpret_cast<const void*>(values), sizeof list);
  std::memcpy(&search.layout->list_tag, reinterpret_cast<const char*>(values) + kValueTag,
              sizeof search.layout->list_tag);
  search.lists.meet(find_vector(reinterpret_cast<const void*>(list), kListBytes, search.operands, 2,
                                search.layout->tensor_tag));
}

ContextPointer on_start(const Record& record) {
  if (!is_awaited(record)) return {nullptr};
  search.expected = nullptr;
  search.record = &record;
  ++search.records;
  if (search.is_stack) {
    look_at_list(record);
    return {nullptr};
  }
  std::uint32_t tag = search.layout->tensor_tag;
  const std::uint32_t before = tag;
  search.inputs.meet(find_inputs(&record, search.operands, kProductSize, tag));
  if (search.records > 1 && tag != before) ++search.other_tags;
  search.layout->tensor_tag = tag;
  return {nullptr};
}

void on_end(const Record& record, Context*) {
  if (search.thread != this_thread() || search.record != &record) return;
  search.record = nullptr;
  if (!search.is_stack)
    search.outputs.meet(find_vector(&record, kRecordBytes, &search.result, 1, search.layout->tensor_tag));
}

void keep(DLManagedTensor*) {}

bool make_tensor(const Library& library, std::size_t i) {
  const Plan& plan = kPlans[i];
  Witness& witness = ground.witnesses[i];
  witness = {0, reinterpret_cast<std::uintptr_t>(ground.memory[i]), plan.dtype, plan.dimensions, {}};
  std::memcpy(witness.sizes, plan.sizes, sizeof witness.sizes);
  std::int64_t stride = 1;
  for (std::size_t at = plan.dimensions; at-- > 0; stride *= witness.sizes[at])
    ground.strides[i][at] = stride;
  Tensor& tensor = ground.tensors[i];
  if (library.from_blob != nullptr) {
    Tensor* made = nullptr;
    if (library.from_blob(ground.memory[i], static_cast<std::int64_t>(plan.dimensions), witness.sizes,
                          ground.strides[i], 0, plan.dtype, kCpu, 0, &made) != 0 ||
        made == nullptr)
      return false;
    tensor.impl = made->impl;
  } else {
    const std::uint32_t packed = kScalarTypes[plan.dtype].packed;
    ground.managed[i] = {
        {ground.memory[i],
         {kDLCPU, 0},
         static_cast<std::int32_t>(plan.dimensions),
         {static_cast<std::uint8_t>(packed >> 16), static_cast<std::uint8_t>(packed >> 8), 1},
         witness.sizes,
         ground.strides[i],
         0},
        nullptr,
        keep};
    library.from_dlpack(&tensor, &ground.managed[i]);
  }
  witness.impl = reinterpret_cast<std::uintptr_t>(tensor.impl);
  return witness.impl != 0 && witness.impl % 8 == 0;
}

// What earlier calls left on the stack is no evidence: behind a record it looks like another pointer to the
// same operands, as the frames of one call lie where those of the last one lay.
__attribute__((noinline)) void clear_stack() {
  char frames[8192];
  std::memset(frames, 0, sizeof frames);
  asm volatile("" : : "r"(frames) : "memory");
}

void run_product(const Library& library, std::size_t first) {
  for (std::size_t i = 0; i < kProductSize; ++i) search.operands[i] = &ground.witnesses[first + i];
  search.result = search.operands[kProductSize - 1];
  search.expected = "aten::mul";
  clear_stack();
  (void)library.mul_out(ground.tensors[first], ground.tensors[first + 1], ground.tensors[first + 2]);
}

void run_stack(const Library& library, std::size_t first) {
  search.operands[0] = &ground.witnesses[first];
  search.operands[1] = &ground.witnesses[first + 1];
  search.is_stack = true;
  search.expected = "aten::stack";
  clear_stack();
  (void)library.stack_out({&ground.tensors[first], 2}, 0, ground.tensors[first + 2]);
}

bool conclude(Layout& layout, TextSink& reason) {
  if (search.records == 0) {
    reason << "no record came of an operator that was called: record functions are disabled";
    return false;
  }
  if (search.records != 2 || search.other_tags != 0) {
    reason << "the layout of this libtorch does not fit: of two products " << std::uint64_t{search.records}
           << " gave a record, or their tensors have different tags";
    return false;
  }
  return search.inputs.only(layout.inputs, reason, "the operands of a record") &&
         search.outputs.only(layout.outputs, reason, "the results of a record") &&
         find_members(ground.witnesses, kWitnesses, layout, reason);
}

bool conclude_list(Layout& layout, TextSink& reason) {
  if (search.lists.only(layout.list, reason, "the tensors of a list") && layout.list_tag != layout.tensor_tag)
    return true;
  if (reason.size() == 0)
    reason << "the layout of this libtorch does not fit: a list has the tag of a tensor";
  return false;
}

}  // namespace

bool probe(const Library& library, Layout& layout, TextSink& reason) {
  for (std::size_t i = 0; i < kWitnesses; ++i) {
    if (make_tensor(library, i)) continue;
    reason << "this libtorch made no tensor over memory that was given to it";
    return false;
  }
  search = {};
  search.thread = this_thread();
  search.library = &library;
  search.layout = &layout;
  Callback callback;
  callback.start = on_start;
  callback.end = on_end;
  callback.scopes[static_cast<std::size_t>(Scope::kFunction)] = true;
  callback.needs_inputs = callback.needs_outputs = true;
  const std::uint64_t handle = library.add_callback(callback);
  run_product(library, 0);
  run_product(library, kProductSize);
  search.expected = nullptr;
  bool fits = conclude(layout, reason);
  if (fits) {
    run_stack(library, 2 * kProductSize);
    fits = conclude_list(layout, reason);
  }
  search.thread = 0;  // a thread that is about to run the callback finds nothing awaited
  library.remove_callback(handle);
  return fits;
}

Tensor probe_tensor() { return ground.tensors[1]; }

}  // namespace dtype_guard::san::torch
