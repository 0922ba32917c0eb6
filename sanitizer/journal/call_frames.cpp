#include "sanitizer/journal/call_frames.h"

#include "sanitizer/capture/stack.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/journal/modules.h"
#include "sanitizer/platform/clock.h"
#include "sanitizer/process/origin_map.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

constexpr std::size_t kMostDimensions = 8;

// The shapes of a call's operands. Descriptors may be wrong, so they are copied by the kernel: all in one
// call, and one by one where that stops at a bad one.
class Shapes {
 public:
  Shapes(const DLTensor* const* operands, std::size_t count) {
    MemoryPiece pieces[kMaxOperands];
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const DLTensor* tensor = operands[i];
      bool usable =
          tensor != nullptr && tensor->ndim >= 0 && tensor->ndim <= static_cast<int>(kMostDimensions);
      known_[i] = usable;
      dimensions_[i] = usable ? static_cast<std::size_t>(tensor->ndim) : 0;
      pieces[i] = {usable ? tensor->shape : nullptr, dimensions_[i] * sizeof(std::int64_t)};
      start_[i] = size / sizeof(std::int64_t);
      size += pieces[i].size;
    }
    if (read_pieces(pieces, count, sizes_) == size) return;
    for (std::size_t i = 0; i < count; ++i)
      known_[i] = known_[i] &&
                  (pieces[i].size == 0 || read_memory(pieces[i].from, sizes_ + start_[i], pieces[i].size));
  }

  bool known(std::size_t i) const { return known_[i]; }
  std::size_t dimensions(std::size_t i) const { return known_[i] ? dimensions_[i] : 0; }
  std::int64_t size(std::size_t i, std::size_t dimension) const { return sizes_[start_[i] + dimension]; }

 private:
  std::int64_t sizes_[kMaxOperands * kMostDimensions];
  std::size_t start_[kMaxOperands], dimensions_[kMaxOperands];
  bool known_[kMaxOperands];
};

void put_operand(FrameBuilder& frame, const OperandContract& contract, const DLTensor* tensor,
                 const Shapes& shapes, std::size_t at) {
  std::uint32_t flags =
      (tensor != nullptr ? kOperandPresent : 0U) | (contract.optional ? kOperandOptional : 0U) |
      (contract.output ? kOperandOutput : 0U) | (shapes.known(at) ? kOperandShapeKnown : 0U);
  frame.text(contract.role).u32(flags).u32(tensor != nullptr ? packed_dtype(*tensor) : 0U);
  frame.u64(contract.accepts_set).u32(static_cast<std::uint32_t>(contract.same_as + 1));
  frame.u32(tensor != nullptr ? static_cast<std::uint32_t>(tensor->device.device_type) : 0U);
  frame.u32(tensor != nullptr ? static_cast<std::uint32_t>(tensor->device.device_id) : 0U);
  frame.u32(static_cast<std::uint32_t>(shapes.dimensions(at)));
  for (std::size_t i = 0; i < shapes.dimensions(at); ++i)
    frame.u64(static_cast<std::uint64_t>(shapes.size(at, i)));
}

void put_operands(FrameBuilder& frame, const WatchedCall& call) {
  const std::size_t count = call.operands != nullptr ? contract_of(call.api).operand_count : 0;
  frame.u32(static_cast<std::uint32_t>(count));
  if (count == 0) return;
  const Shapes shapes(call.operands, count);
  for (std::size_t i = 0; i < count; ++i)
    put_operand(frame, contract_of(call.api).operands[i], call.operands[i], shapes, i);
}

void put_python(FrameBuilder& frame, const CapturedStack& stack) {
  frame.u32(static_cast<std::uint32_t>(stack.python_depth));
  for (std::size_t i = 0; i < stack.python_depth; ++i) {
    const PythonFrame& python = stack.scratch->python[i];
    frame.text(python.file).text(python.function).u32(python.line).u32(python.from_c ? 1 : 0);
  }
}

void put_stack(FrameBuilder& frame, const CapturedStack& stack) {
  frame.u32(static_cast<std::uint32_t>(stack.depth));
  for (std::size_t i = 0; i < stack.depth; ++i)
    frame.u32(stack.scratch->modules[i]).u64(stack.scratch->stack[i]);
  put_python(frame, stack);
}

void put_detail(FrameBuilder& frame, const FindingDetail& detail) {
  frame.u32(static_cast<std::uint32_t>(detail.origin_count));
  for (std::size_t i = 0; i < detail.origin_count; ++i) {
    const auto& [operand, origin] = detail.origins[i];
    frame.u32(operand).u32(origin.dtype);
    for (std::size_t step = 0; step < kChainLength; ++step) frame.u32(origin.chain.site(step));
  }
  frame.u32(detail.reinterpreted);
}

}  // namespace

std::uint64_t CapturedStack::hash(std::uint64_t seed) const {
  std::uint64_t key = XXH3_64bits_withSeed(scratch->stack, depth * sizeof scratch->stack[0], seed);
  for (std::size_t i = 0; i < python_depth; ++i) {
    const PythonFrame& frame = scratch->python[i];
    key = XXH3_64bits_withSeed(frame.file, std::strlen(frame.file), key);
    key = XXH3_64bits_withSeed(frame.function, std::strlen(frame.function), key);
    key =
        XXH3_64bits_withSeed(&frame.line, sizeof frame.line, key);  // apart: a seed cancels with short names
  }
  return key;
}

CapturedStack capture_call(Scratch& scratch, const WatchedCall& call) {
  CapturedStack stack{
      &scratch, capture_stack_from(call.caller, scratch.stack, scratch.stack_words, settings().stack_depth),
      0};
  if (settings().python != Switch::kOff)
    stack.python_depth = capture_python(scratch.python, sizeof scratch.python / sizeof scratch.python[0]);
  return stack;
}

CapturedStack capture_here(Scratch& scratch) {
  CapturedStack stack{&scratch, capture_stack(scratch.stack, scratch.stack_words, settings().stack_depth), 0};
  if (settings().python != Switch::kOff)
    stack.python_depth = capture_python(scratch.python, sizeof scratch.python / sizeof scratch.python[0]);
  return stack;
}

void find_origins(Process& process, const WatchedCall& call, FindingDetail& detail) {
  if (!settings().origins) return;
  const ApiContract& contract = contract_of(call.api);
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    Origin origin;
    if (call.operands[i] == nullptr || !contract.operands[i].input ||
        !find_origin(process.origins, *call.operands[i], origin))
      continue;
    detail.origins[detail.origin_count++] = {static_cast<std::uint32_t>(i), origin};
    // Not what the descriptor says: then this is the finding, and the broken contract follows from it.
    if (origin.dtype != packed_dtype(*call.operands[i]) && detail.reinterpreted == 0 &&
        !is_raw_bytes(origin.dtype) && !is_raw_bytes(packed_dtype(*call.operands[i])))
      detail.reinterpreted = static_cast<std::uint32_t>(i + 1);
  }
}

bool write_call(Process& process, Scratch& scratch, FrameType type, std::uint32_t index,
                const WatchedCall& call, const CapturedStack& stack, const FindingDetail* detail) {
  const ApiContract& contract = contract_of(call.api);
  record_modules(process, scratch, scratch.stack, scratch.modules, stack.depth);
  FrameBuilder frame(scratch.frame, type);
  frame.u32(index).text(contract.name).u64(thread_id()).u64(now_ns());
  put_operands(frame, call);
  put_stack(frame, stack);
  if (detail != nullptr) {
    put_detail(frame, *detail);
    frame.u32(detail->forward).u32(detail->without_origin);
    for (std::size_t i = 0; i < kMaxOperands; ++i)
      if ((detail->without_origin >> i & 1U) != 0) frame.u32(detail->first_uses[i]);
  }
  return append_frame(process, frame, scratch);
}

bool write_launch(Process& process, Scratch& scratch, FrameType type, std::uint32_t index,
                  std::string_view kernel, const WatchedCall& call, const CapturedStack& stack,
                  void (*tail)(FrameBuilder& frame, const void* context), const void* context) {
  record_modules(process, scratch, scratch.stack, scratch.modules, stack.depth);
  FrameBuilder frame(scratch.frame, type);
  frame.u32(index).text(kernel).u64(thread_id()).u64(now_ns());
  put_operands(frame, call);
  put_stack(frame, stack);
  put_detail(frame, {});
  tail(frame, context);
  return append_frame(process, frame, scratch);
}

}  // namespace dtype_guard::san
