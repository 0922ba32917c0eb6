// A library that looks like libtorch from outside and keeps everything in places of its own: what the start
// test of dtype-san's torch source has to find, or to refuse. The environment variable FAKE_TORCH names what
// is wrong with it:
//   right                nothing; the layout is that of no release
//   dtype, sizes, storage, device, list, inputs, outputs      that member is not there
//   two_dtypes, two_sizes, two_storages, two_inputs           it is there twice
//   list_tag             a list has the tag of a tensor
//   tags                 the tensors of one record have different tags
//   silent               operators make no record
//   stale                nothing; but what lies behind a record on the stack is left from calls before it
//   bad_pointers         what lies beside the members points to where nothing is
// main() calls the one operator of an attention that there is, with a wrong dtype. With the argument `cpu`,
// `cuda` or `cuda_1_13` its operands are blocks that an allocator announces (fake_c10.cpp,
// fake_c10_cuda.cpp); with `wait` after that it waits for a line first.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace c10 {
template <typename T>
class ArrayRef {
 public:
  ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  const T* data_;
  std::size_t size_;
};
}  // namespace c10
#pragma GCC visibility pop

namespace {
std::string_view wrong() {
  const char* word = std::getenv("FAKE_TORCH");
  return word != nullptr ? word : "right";
}

// Destroyed as the process ends. `slow`: an operator that takes a second, and must not outlive it.
bool is_there = true;
struct Dispatcher {
  ~Dispatcher() { is_there = false; }
} dispatcher;
void take_long() {
  std::printf("probed\n");
  std::fflush(stdout);
  sleep(1);
  if (!is_there) std::abort();
}

constexpr std::size_t kImplWords = 32;
struct Impl {
  std::uint64_t words[kImplWords] = {};
};
struct Storage {
  std::uint64_t words[12] = {};
};
struct Value {
  const void* payload;
  std::uint32_t tag, rest;
};
constexpr std::uint32_t kTensorTag = 3, kListTag = 21;

void put16(Impl& impl, std::size_t at, std::uint16_t value) {
  std::memcpy(reinterpret_cast<char*>(impl.words) + at, &value, sizeof value);
}
void put_device(Impl& impl, std::size_t at) {
  const unsigned char device[3] = {0, 0xff, 1};
  std::memcpy(reinterpret_cast<char*>(impl.words) + at, device, sizeof device);
}
void put_sizes(Impl& impl, std::size_t word, std::int64_t dimensions, const std::int64_t* sizes) {
  impl.words[word] = static_cast<std::uint64_t>(dimensions);
  std::int64_t stride = 1;
  for (std::int64_t i = dimensions; i-- > 0; stride *= sizes[i]) {
    impl.words[word + 1 + static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(sizes[i]);
    impl.words[word + 6 + static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(stride);
  }
}

Impl* make(void* data, std::int64_t dimensions, const std::int64_t* sizes, std::uint16_t dtype) {
  auto* impl = new Impl;
  auto* storage = new Storage;
  for (std::uint64_t& word : impl->words) word = wrong() == "bad_pointers" ? 0xdead0000beefULL * 8 : 0;
  for (std::uint64_t& word : storage->words) word = wrong() == "bad_pointers" ? 0xfffffffffffffff8ULL : 0;
  storage->words[5] = reinterpret_cast<std::uint64_t>(data);
  if (wrong() != "storage") impl->words[3] = reinterpret_cast<std::uint64_t>(storage);
  if (wrong() == "two_storages") impl->words[4] = impl->words[3];
  if (wrong() != "sizes") put_sizes(*impl, 7, dimensions, sizes);
  if (wrong() == "two_sizes") put_sizes(*impl, 19, dimensions, sizes);
  if (wrong() != "dtype") put16(*impl, 242, dtype);
  if (wrong() != "device") put_device(*impl, 244);
  if (wrong() == "two_dtypes") put16(*impl, 250, dtype);
  return impl;
}
}  // namespace

#pragma GCC visibility push(default)
namespace at {
class Tensor {
 public:
  Impl* impl = nullptr;
};

class ObserverContext {
 public:
  virtual ~ObserverContext() = default;
};

class RecordFunction {
 public:
  const char* name() const;
  const char* name_ = nullptr;
  std::uint64_t words_[64] = {};
};
const char* RecordFunction::name() const { return name_; }

class RecordFunctionCallback {
 public:
  std::unique_ptr<ObserverContext> (*start)(const RecordFunction&);
  void (*end)(const RecordFunction&, ObserverContext*);
  double probability;
  bool scopes[10];
  bool inputs, outputs, ids;
};

namespace {
std::vector<RecordFunctionCallback> callbacks;

// Where a call kept its operands: at the same place in the next one.
Value kept[3];

// As a call does that was given a list of three values: the address and the number stay where its frames
// were.
[[gnu::noinline]] void leave_on_stack() {
  struct alignas(16) Range {
    const Value* first;
    std::size_t count;
  } ranges[512];
  for (Range& range : ranges) range = {kept, 3};
  asm volatile("" : : "r"(ranges) : "memory");
}

// A record, and behind it what nothing is written to; deeper than what allocates the operands before.
struct Frame {
  RecordFunction function;
  alignas(16) std::uint64_t hole[8], rest[256];
};

// One record around an operator: what it is given, and what it gives.
void record(const char* name, std::vector<Value> inputs, std::vector<Value> outputs) {
  if (wrong() == "silent") return;
  Frame frame;
  asm volatile("" : : "r"(frame.hole) : "memory");
  RecordFunction& function = frame.function;
  function.name_ = name;
  if (inputs.size() == 3) std::copy(inputs.begin(), inputs.end(), kept);
  if (wrong() == "tags" && inputs.size() == 3) inputs[1].tag = kTensorTag + 1;
  const auto put_inputs = [&](std::size_t word) {
    function.words_[word] = reinterpret_cast<std::uint64_t>(inputs.data());
    function.words_[word + 1] = inputs.size();
  };
  if (wrong() != "inputs") put_inputs(9);
  if (wrong() == "two_inputs") put_inputs(13);
  std::vector<std::unique_ptr<ObserverContext>> contexts;
  for (const RecordFunctionCallback& callback : callbacks) contexts.push_back(callback.start(function));
  if (wrong() != "outputs") std::memcpy(&function.words_[40], &outputs, sizeof outputs);
  for (std::size_t i = 0; i < callbacks.size(); ++i)
    if (callbacks[i].end != nullptr) callbacks[i].end(function, contexts[i].get());
}

Value value(const Tensor& tensor) { return {tensor.impl, kTensorTag, 0}; }
}  // namespace

std::uint64_t addGlobalCallback(RecordFunctionCallback callback);
std::uint64_t addGlobalCallback(RecordFunctionCallback callback) {
  callbacks.push_back(callback);
  if (wrong() == "stale") leave_on_stack();
  return callbacks.size();
}
void removeCallback(std::uint64_t handle);
void removeCallback(std::uint64_t handle) {
  callbacks.erase(callbacks.begin() + static_cast<std::ptrdiff_t>(handle - 1));
}

namespace _ops {
struct mul_out {
  static Tensor& call(const Tensor& a, const Tensor& b, Tensor& out);
};
Tensor& mul_out::call(const Tensor& a, const Tensor& b, Tensor& out) {
  record("aten::mul", {value(a), value(b), value(out)}, {value(out)});
  return out;
}
struct stack_out {
  static Tensor& call(c10::ArrayRef<Tensor> tensors, std::int64_t dimension, Tensor& out);
};
Tensor& stack_out::call(c10::ArrayRef<Tensor> tensors, std::int64_t, Tensor& out) {
  if (wrong() == "slow") take_long();
  std::vector<Value> inner;
  for (std::size_t i = 0; i < tensors.size_; ++i) inner.push_back(value(tensors.data_[i]));
  std::uint64_t list[8] = {};
  if (wrong() != "list") std::memcpy(&list[4], &inner, sizeof inner);
  const std::uint32_t tag = wrong() == "list_tag" ? kTensorTag : kListTag;
  record("aten::stack", {{list, tag, 0}, {nullptr, 7, 0}, value(out)}, {value(out)});
  return out;
}
}  // namespace _ops
}  // namespace at

extern "C" std::int32_t aoti_torch_create_tensor_from_blob(void* data, std::int64_t dimensions,
                                                           const std::int64_t* sizes, const std::int64_t*,
                                                           std::int64_t, std::int32_t dtype, std::int32_t,
                                                           std::int32_t, at::Tensor** result) {
  *result = new at::Tensor{make(data, dimensions, sizes, static_cast<std::uint16_t>(dtype))};
  return 0;
}

#pragma GCC visibility pop

extern "C" void fake_c10_report(void* block, std::int64_t bytes);
extern "C" void fake_c10_cuda_report(void* block, std::int64_t bytes, int is_of_1_13);
extern "C" std::int64_t fake_c10_bytes_in_use(std::int64_t* blocks);

namespace {
constexpr std::int64_t kSizes[] = {1, 2, 2, 4};
constexpr std::int64_t kBytes = 512;  // as the caching allocator rounds up
constexpr std::uint16_t kFloat = 6, kBFloat16 = 15;
alignas(512) char memory[8][kBytes];

at::Tensor on_device(Impl* impl) {
  const unsigned char device[3] = {1, 0, 1};
  std::memcpy(reinterpret_cast<char*>(impl->words) + 244, device, sizeof device);
  return {impl};
}

void attend(const at::Tensor& q, const at::Tensor& k) {
  at::record("aten::scaled_dot_product_attention",
             {at::value(q),
              at::value(k),
              at::value(k),
              {nullptr, 0, 0},
              {nullptr, 2, 0},
              {nullptr, 5, 0},
              {nullptr, 0, 0}},
             {at::value(q)});
}

// Not a jump at the end of a function, which would leave the caller out of the stack.
[[gnu::always_inline]] inline void stay() { asm volatile(""); }

// q is float32: a product with a float32 table made it so; then the block has come back and gone out again,
// and nothing that was seen wrote there; last, a cast wrote there.
[[gnu::noinline]] void widened(const at::Tensor& q, const at::Tensor& k, const at::Tensor& table) {
  at::record("aten::mul", {at::value(k), at::value(table)}, {at::value(q)});
  attend(q, k);
  stay();
}
[[gnu::noinline]] void not_seen(const at::Tensor& q, const at::Tensor& k) {
  attend(q, k);
  stay();
}
[[gnu::noinline]] void cast(const at::Tensor& q, const at::Tensor& k) {
  at::record("aten::to", {at::value(k), {nullptr, 5, 0}}, {at::value(q)});
  attend(q, k);
  stay();
}

void with_an_allocator(std::string_view way) {
  const bool is_on_cpu = way == "cpu";
  const auto report = [&](std::size_t block, std::int64_t bytes) {
    if (is_on_cpu)
      fake_c10_report(memory[block], bytes);
    else
      fake_c10_cuda_report(memory[block], bytes, way == "cuda_1_13" ? 1 : 0);
  };
  const auto tensor = [&](std::size_t block, std::uint16_t dtype) {
    Impl* impl = make(memory[block], 4, kSizes, dtype);
    return is_on_cpu ? at::Tensor{impl} : on_device(impl);
  };
  for (std::size_t block = 0; block < 3; ++block) report(block, kBytes);
  const at::Tensor q = tensor(0, kFloat), k = tensor(1, kBFloat16), table = tensor(2, kFloat);
  widened(q, k, table);
  report(0, -kBytes);
  report(0, kBytes);
  not_seen(q, k);
  cast(q, k);
  std::int64_t blocks = 0;
  const std::int64_t bytes = fake_c10_bytes_in_use(&blocks);
  std::printf("%ld blocks, %ld bytes\n", static_cast<long>(blocks), static_cast<long>(bytes));
}
}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (argc > 2) {
    std::printf("ready\n");
    std::fflush(stdout);
    (void)std::getchar();
  }
  if (!word.empty())
    with_an_allocator(word);
  else
    attend({make(memory[0], 4, kSizes, kFloat)}, {make(memory[1], 4, kSizes, kBFloat16)});
  std::printf("called\n");
}
