// What is used of libtorch, declared here because a build has no PyTorch: the argument of
// at::addGlobalCallback, which has been the same since 1.13, what its callbacks take and give, and the
// signatures behind the mangled names. Where tensors and records keep their members is not here: that moves
// between releases and is probed (probe.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::torch {

struct Record;      // at::RecordFunction
struct TensorImpl;  // c10::TensorImpl

// at::Tensor is one pointer; where a function gives one by value it is in memory of the caller's.
struct Tensor {
  TensorImpl* impl = nullptr;
};
// c10::ArrayRef<at::Tensor>, c10::ArrayRef<int64_t>.
template <typename T>
struct List {
  const T* data;
  std::size_t size;
};

// at::ObserverContext: libtorch deletes it through its vtable. The memory stays ours.
class Context {
 public:
  virtual ~Context() = default;
  static void operator delete(void*) {}
};

// std::unique_ptr<at::ObserverContext> as a result: it has a destructor, so the caller says where it goes.
struct ContextPointer {
  Context* context;
  ~ContextPointer() {}
};

using StartCallback = ContextPointer (*)(const Record& record);
using EndCallback = void (*)(const Record& record, Context* context);

enum class Scope : std::uint8_t { kFunction = 0, kBackwardFunction = 1, kUserScope = 7 };

// at::RecordFunctionCallback, passed by value.
struct Callback {
  StartCallback start = nullptr;
  EndCallback end = nullptr;
  double sampling_probability = 1.0;
  bool scopes[10] = {};
  bool needs_inputs = false, needs_outputs = false, needs_ids = false;
};
static_assert(sizeof(Callback) == 40 && offsetof(Callback, needs_inputs) == 34);

using AddGlobalCallback = std::uint64_t (*)(Callback callback);
using RemoveCallback = void (*)(std::uint64_t handle);
using RecordName = const char* (*)(const Record* record);
using MulOut = Tensor& (*)(const Tensor& a, const Tensor& b, Tensor& out);
using StackOut = Tensor& (*)(List<Tensor> tensors, std::int64_t dimension, Tensor& out);
// at::fromDLPack; the result comes first where it is returned in memory.
using FromDlpack = Tensor* (*)(Tensor* result, void* managed);
// aoti_torch_create_tensor_from_blob; gives 0 and a pointer to a tensor.
using FromBlob = std::int32_t (*)(void* data, std::int64_t dimensions, const std::int64_t* sizes,
                                  const std::int64_t* strides, std::int64_t offset, std::int32_t dtype,
                                  std::int32_t device_type, std::int32_t device_index, Tensor** result);
// Results that have a destructor in libtorch, so that the caller says where they go: at::Tensor, and an owner
// of an autograd node, which is a std::shared_ptr and from 2.13 on a c10::intrusive_ptr, of one word.
struct TensorResult {
  TensorImpl* impl;
  ~TensorResult() {}
};
struct NodeOwner {
  void* node;
  void* control;
  ~NodeOwner() {}
};
using Mul = TensorResult (*)(const Tensor& a, const Tensor& b);
using RequiresGrad = Tensor& (*)(Tensor& tensor, bool requires_grad);
// at::TensorBase::grad_fn: where the tensor keeps the owner of its node.
using GradFunction = void* const* (*)(const Tensor* tensor);
// torch::autograd::get_current_node: whose backward this thread runs.
using CurrentNode = NodeOwner (*)();
using SequenceNumber = std::uint64_t (*)();  // at::sequence_number::peek
using ThreadNumber = std::uint64_t (*)();    // at::RecordFunction::currentThreadId
using IsAutocastEnabled = bool (*)(std::int8_t device_type);
using IsAutocastEnabledFixed = bool (*)();

// c10::DeviceType
inline constexpr std::int8_t kCpu = 0, kCuda = 1, kMeta = 14;
struct Device {
  std::int8_t type, index;
};

}  // namespace dtype_guard::san::torch
