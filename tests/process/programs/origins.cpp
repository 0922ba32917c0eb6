// Chains of calls whose results reach an attention call in the wrong dtype, and cases that only look like it.
#include <flash_ref/flash_ref.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr DLDataType kHalf = {2, 16, 1};
constexpr DLDataType kBrain = {4, 16, 1};
constexpr DLDataType kFloat = {2, 32, 1};
constexpr std::int64_t kShape[4] = {1, 8, 2, 8}, kTable[2] = {8, 4};

using Memory = std::vector<std::uint32_t>;

// Numbers of about one in any of the dtypes, no two neighbours alike.
Memory filled(std::uint32_t seed = 1) {
  Memory memory(128);
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = 0x3c003c00U + (static_cast<std::uint32_t>(i * 37 + seed) & 0xffU) * 0x10001U;
  return memory;
}

DLTensor tensor(Memory& memory, DLDataType dtype, const std::int64_t* shape = kShape, int rank = 4) {
  DLTensor view = {};
  view.data = memory.data();
  view.device.device_type = static_cast<decltype(view.device.device_type)>(1);
  view.ndim = rank;
  view.dtype = dtype;
  view.shape = const_cast<std::int64_t*>(shape);
  return view;
}

__attribute__((noinline)) int rotate(Memory& from, Memory& to, DLDataType dtype) {
  Memory cos = filled(2), sin = filled(3);
  DLTensor x = tensor(from, dtype), c = tensor(cos, dtype, kTable, 2), s = tensor(sin, dtype, kTable, 2),
           out = tensor(to, dtype);
  int status = flash_ref_rotary(&x, &c, &s, &out, nullptr);  // call: rotate
  return status;
}

__attribute__((noinline)) int attend(Memory& q, DLDataType q_dtype, DLDataType dtype) {
  Memory k = filled(4), v = filled(5), out = filled(6);
  DLTensor tq = tensor(q, q_dtype), tk = tensor(k, dtype), tv = tensor(v, dtype), to = tensor(out, dtype);
  int status = flash_ref_attention_fwd(&tq, &tk, &tv, &to, nullptr, nullptr);  // call: attend
  return status;
}

int run(const std::string& mode) {
  Memory x = filled(), first(128), second(128);
  if (mode == "rotary") {  // q became float32 in a rotary call
    rotate(x, first, kFloat);
    return attend(first, kFloat, kHalf);
  }
  if (mode == "chain") {  // in two of them
    rotate(x, first, kFloat);
    rotate(first, second, kFloat);  // call: second
    return attend(second, kFloat, kHalf);
  }
  if (mode == "reinterpreted") {  // written as bfloat16, read as float16: accepted, and wrong
    rotate(x, first, kBrain);
    return attend(first, kHalf, kHalf);
  }
  if (mode == "reinterpreted-refused") {  // written as bfloat16, read as float32
    rotate(x, first, kBrain);
    return attend(first, kFloat, kHalf);
  }
  if (mode == "right") {  // what is written is what is read
    rotate(x, first, kHalf);
    return attend(first, kHalf, kHalf);
  }
  if (mode == "reused") {  // the memory was given to another tensor in between
    rotate(x, first, kBrain);
    first = filled(9);
    return attend(first, kHalf, kHalf);
  }
  if (mode == "reused-wrong") {  // and that one is float32: a finding without an origin
    rotate(x, first, kBrain);
    first = filled(9);
    return attend(first, kFloat, kHalf);
  }
  if (mode == "zeros") {  // equal bytes prove nothing
    std::memset(x.data(), 0, x.size() * sizeof x[0]);
    rotate(x, first, kBrain);
    return attend(first, kHalf, kHalf);
  }
  if (mode == "refused") {  // a call whose dtypes are right and whose shapes are not writes nothing
    first = filled(9);
    Memory table = filled(2);
    constexpr std::int64_t kShort[2] = {3, 4};
    DLTensor from = tensor(x, kBrain), t = tensor(table, kBrain, kShort, 2), to = tensor(first, kBrain);
    if (flash_ref_rotary(&from, &t, &t, &to, nullptr) == 0) return 98;
    return attend(first, kHalf, kHalf);
  }
  if (mode == "freed") {  // the memory is gone, and its address read by a call that is refused
    auto* gone = new Memory(128);
    rotate(x, *gone, kFloat);
    DLTensor dead = tensor(*gone, kFloat);
    Memory().swap(*gone);
    DLTensor k = tensor(x, kHalf);
    int status = flash_ref_attention_fwd(&dead, &k, &k, &k, nullptr, nullptr);
    delete gone;
    return status;
  }
  return 99;
}

}  // namespace

int main(int, char** argv) {
  std::printf("status %d\n", run(argv[1]));
  return 0;
}
