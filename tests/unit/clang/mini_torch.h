// As much of libtorch's C++ API as the front end's tests use, under the real names. Bodies are absent, as
// they are when the parser skips other people's headers.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace c10 {
enum class ScalarType : int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  C1,
  C2,
  C3,
  Bool,
  Q1,
  Q2,
  Q3,
  BFloat16
};
constexpr ScalarType kHalf = ScalarType::Half, kFloat = ScalarType::Float, kBFloat16 = ScalarType::BFloat16,
                     kFloat32 = ScalarType::Float, kBool = ScalarType::Bool, kLong = ScalarType::Long,
                     kByte = ScalarType::Byte;
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
enum class DispatchKey : uint16_t { Undefined, AutocastCPU, AutocastCUDA };
struct Device {
  Device(DeviceType);
};
class Scalar {
 public:
  Scalar(double);
  Scalar(float);
  Scalar(int);
  Scalar(int64_t);
  Scalar(bool);
};
class TensorOptions {
 public:
  TensorOptions();
  TensorOptions(ScalarType);
  TensorOptions(DeviceType);
  TensorOptions dtype(std::optional<ScalarType>) const;
  TensorOptions device(std::optional<DeviceType>) const;
  TensorOptions requires_grad(bool) const;
  ScalarType dtype() const;
};
template <class T>
class ArrayRef {
 public:
  ArrayRef();
  ArrayRef(const T&);
  ArrayRef(const std::vector<T>&);
  ArrayRef(const std::initializer_list<T>&);
  const T& operator[](size_t) const;
};
using IntArrayRef = ArrayRef<int64_t>;
struct Half {
  unsigned short x;
  Half() = default;
  Half(float);
  operator float() const;
};
Half operator*(const Half&, const Half&);
float operator*(Half, float);
namespace detail {
[[noreturn]] void torchCheckFail(const char*, const char*, uint32_t, const char*);
}
namespace impl {
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKey);
  ~ExcludeDispatchKeyGuard();
};
}  // namespace impl
void set_default_dtype(ScalarType);
}  // namespace c10
namespace c10 {
template <class Signature>
class TypedOperatorHandle;
template <class Result, class... Args>
class TypedOperatorHandle<Result(Args...)> {
 public:
  Result call(Args... args) const;
};
class OperatorHandle {
 public:
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const;
};
class Dispatcher {
 public:
  static Dispatcher& singleton();
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload);
};
}  // namespace c10
#define TORCH_CHECK(cond, ...)                                             \
  if (__builtin_expect(static_cast<bool>(!(cond)), 0)) {                   \
    ::c10::detail::torchCheckFail(__func__, __FILE__, __LINE__, "" #cond); \
  }

namespace at {
using namespace c10;
class TensorBase {
 public:
  int64_t dim() const;
  int64_t size(int64_t) const;
  int64_t element_size() const;
  ScalarType scalar_type() const;
  TensorOptions options() const;
  bool defined() const;
};
class Tensor : public TensorBase {
 public:
  Tensor();
  Tensor(const Tensor&);
  Tensor(Tensor&&);
  ~Tensor();
  Tensor& operator=(const Tensor&) &;
  Tensor& operator=(Tensor&&) &;
  Tensor& operator=(const Tensor&) &&;
  Tensor& operator=(Tensor&&) &&;
  Tensor& operator*=(const Tensor&);
  Tensor operator[](int64_t) const;
  Tensor operator-() const;
  Tensor mul(const Tensor&) const;
  Tensor mul(const Scalar&) const;
  Tensor& mul_(const Tensor&) const;
  Tensor cos() const;
  Tensor sin() const;
  Tensor transpose(int64_t, int64_t) const;
  Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(TensorOptions options = {}, bool non_blocking = false, bool copy = false) const;
  Tensor to(const Tensor& other, bool non_blocking = false) const;
  Tensor type_as(const Tensor& other) const;
  Tensor softmax(int64_t dim, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor view(IntArrayRef size) const;
  Tensor new_ones(IntArrayRef size, TensorOptions options = {}) const;
  std::vector<Tensor> unbind(int64_t dim = 0) const;
  std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
  void* data_ptr() const;
  template <class T>
  T* data_ptr() const;
  void set_data(const Tensor&) const;
  template <class T>
  T item() const;
};
using TensorList = ArrayRef<Tensor>;
Tensor operator*(const Tensor&, const Tensor&);
Tensor operator*(const Tensor&, const Scalar&);
Tensor operator+(const Tensor&, const Tensor&);
Tensor cat(TensorList tensors, int64_t dim = 0);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor matmul(const Tensor& self, const Tensor& other);
Tensor einsum(const std::string& equation, TensorList tensors);
Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor ones(IntArrayRef size, TensorOptions options = {});
Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape);
Tensor custom_thing(const Tensor& self);
namespace autocast {
bool is_enabled();
bool is_autocast_enabled(DeviceType);
ScalarType get_autocast_gpu_dtype();
ScalarType get_autocast_dtype(DeviceType);
void set_enabled(bool);
void set_autocast_gpu_dtype(ScalarType);
void set_autocast_enabled(DeviceType, bool);
void set_autocast_dtype(DeviceType, ScalarType);
}  // namespace autocast
}  // namespace at
struct DLDevice_;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  int32_t ndim;
  DLDataType dtype;
} DLTensor;
struct DLManagedTensor {
  DLTensor dl_tensor;
  void (*deleter)(DLManagedTensor*);
};
namespace at {
DLManagedTensor* toDLPack(const Tensor&);
}
extern "C" int flash_ref_rotary(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*);

namespace torch {
using namespace at;
using at::Tensor;
Tensor zeros(IntArrayRef size, TensorOptions options = {});
Tensor ones(IntArrayRef size, TensorOptions options = {});
Tensor full(IntArrayRef size, Scalar fill_value, TensorOptions options = {});
TensorOptions dtype(ScalarType);
namespace nn {
class Module : public std::enable_shared_from_this<Module> {
 public:
  virtual ~Module();
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module);
  template <class Holder>
  Holder register_module(std::string name, Holder module);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void eval();
  std::vector<Tensor> parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
};
template <class Contained>
class ModuleHolder {
 protected:
  std::shared_ptr<Contained> impl_;

 public:
  ModuleHolder();
  ModuleHolder(std::nullptr_t);
  template <class Head, class... Tail>
  explicit ModuleHolder(Head&& head, Tail&&... tail);
  ModuleHolder(std::shared_ptr<Contained>);
  Contained* operator->();
  Contained* get() const;
  Tensor operator()(const Tensor&);
};
struct LinearOptions {
  LinearOptions(int64_t, int64_t);
  LinearOptions& bias(bool);
};
class LinearImpl : public Module {
 public:
  LinearImpl(int64_t, int64_t);
  explicit LinearImpl(const LinearOptions&);
  Tensor forward(const Tensor& input);
  Tensor weight;
};
class Linear : public ModuleHolder<LinearImpl> {
 public:
  using ModuleHolder<LinearImpl>::ModuleHolder;
};
namespace functional {
struct NormalizeFuncOptions {
  NormalizeFuncOptions& dim(int64_t);
};
struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t);
  SoftmaxFuncOptions& dtype(ScalarType);
};
Tensor embedding(const Tensor& input, const Tensor& weight);
Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
}  // namespace functional
}  // namespace nn
}  // namespace torch
#define TORCH_MODULE(Name)                                   \
  class Name : public torch::nn::ModuleHolder<Name##Impl> {  \
   public:                                                   \
    using torch::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
  }
