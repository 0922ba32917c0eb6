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
using IsAutocastEnabled = bool (*)(std::int8_t device_type);
using IsAutocastEnabledFixed = bool (*)();

// c10::DeviceType
inline constexpr std::int8_t kCpu = 0, kCuda = 1, kMeta = 14;

}  // namespace dtype_guard::san::torch
