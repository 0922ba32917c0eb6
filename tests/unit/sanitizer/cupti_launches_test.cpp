// What is kept of launches in the watched process: counts, arguments, casts on streams, graphs. All of it has
// a fixed size.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernels/call/problem.h"
#include "sanitizer/sources/cupti/arguments.h"
#include "sanitizer/sources/cupti/cast_times.h"
#include "sanitizer/sources/cupti/graphs.h"
#include "sanitizer/sources/cupti/launches.h"
#include "sanitizer/sources/cupti/names/kernel_name.h"
#include "sanitizer/sources/cupti/stream_casts.h"
#include "tests/catch.h"

namespace dtype_guard::san::cupti {

namespace {

using flash_ref::AttentionProblem;

// As the process has them: in memory that is zero.
template <typename T>
std::unique_ptr<T, void (*)(T*)> zeroed() {
  return {static_cast<T*>(std::calloc(1, sizeof(T))), [](T* made) { std::free(made); }};
}

template <typename T>
const T* handle(std::uintptr_t number) {
  return reinterpret_cast<const T*>(number);
}

// A kernel with these parameters; the driver's word on it.
struct Signature {
  std::vector<std::size_t> offsets, sizes;
};
DriverResult parameter_info(void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  const auto& signature = *static_cast<const Signature*>(function);
  if (index >= signature.sizes.size()) return 1;
  *offset = signature.offsets[index];
  *size = signature.sizes[index];
  return 0;
}
Driver scripted_driver() {
  Driver driver;
  driver.parameter_info = parameter_info;
  return driver;
}

StreamCast cast_to(std::uint64_t out, std::uint64_t elements, std::uint32_t launch) {
  return {{out, elements, 2, 0, 0}, launch, 0};
}

}  // namespace

TEST_CASE("launches are counted by kernel name, from any thread") {
  static Launches launches;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) (void)launches.count(i % 2 == 0 ? "attention" : "softmax");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Launches::Seen seen = launches.count("attention");
  CHECK(seen.count == 2001);
  CHECK(launches.count_of(seen.index) == 2001);
  CHECK(launches.count("softmax").index != seen.index);
  CHECK(launches.uncounted() == 0);
  for (int i = 0; i < 5000; ++i) (void)launches.count("kernel" + std::to_string(i));
  CHECK(launches.uncounted() > 0);
  CHECK(launches.count_of(seen.index) == 2001);
}

TEST_CASE("a launch inside a watched call is counted apart") {
  const auto launches = zeroed<Launches>();
  const auto outside = launches->count("attention");
  CHECK(launches->count("attention", 7).index != outside.index);
  CHECK(launches->count("attention", 7).count == 2);
  CHECK(launches->count("attention").count == 2);
}

TEST_CASE("memory that launches take is bounded") {
  CHECK(sizeof(Launches) + sizeof(Graphs) + sizeof(StreamCasts) + sizeof(CastLinks) + sizeof(CastTimes) <
        512 * 1024);
  const auto launches = zeroed<Launches>();
  for (int i = 0; i < 100000; ++i) (void)launches->count("kernel" + std::to_string(i));
  CHECK(launches->uncounted() > 90000);
  const auto links = zeroed<CastLinks>();
  std::size_t counted = 0;
  for (std::uint32_t i = 0; i < 5000; ++i) counted += links->count({i, i, 0, {}}).count;
  CHECK(counted <= CastLinks::kSlots);
  CHECK(counted > CastLinks::kSlots / 2);
  const auto graphs = zeroed<Graphs>();
  for (std::uint32_t i = 0; i < 2 * Graphs::kNodes; ++i) graphs->captured(handle<void>(16), i % 4096);
  CHECK(graphs->lost() == 0);  // the same launches again
  for (std::uintptr_t i = 1; i <= Graphs::kExecutables + 10; ++i)
    graphs->instantiated(*launches, handle<void>(i * 64), handle<void>(16), nullptr);
  CHECK(graphs->lost() > 0);
}

TEST_CASE("arguments are read as the driver says that they lie") {
  const Driver driver = scripted_driver();
  Signature signature{{0, 8, 24}, {4, 16, 1}};
  std::int32_t count = 9;
  std::uint64_t pointers[2] = {0x1000, 0x2000};
  char flag = 1;
  void* arguments[] = {&count, pointers, &flag};
  const Arguments by_list(driver, &signature, arguments, nullptr);
  CHECK(by_list.parameter(1, 16) == reinterpret_cast<char*>(pointers));
  CHECK(by_list.parameter(1, 8) == nullptr);  // another size than expected
  CHECK(by_list.parameter(1, 8, true) != nullptr);
  CHECK(by_list.parameter(3, 1) == nullptr);
  std::vector<std::uint64_t> words;
  CHECK(by_list.each_word([&](std::size_t, std::size_t, std::uint64_t word) { words.push_back(word); }));
  CHECK(words == std::vector<std::uint64_t>{0x1000, 0x2000});

  char buffer[32] = {};
  std::memcpy(buffer + 8, pointers, sizeof pointers);
  std::size_t size = 25;
  void* extra[] = {reinterpret_cast<void*>(kExtraSize), &size, reinterpret_cast<void*>(kExtraBuffer), buffer,
                   nullptr};
  CHECK(Arguments(driver, &signature, nullptr, extra).parameter(1, 16) == buffer + 8);
  size = 20;  // the buffer ends inside the parameter
  CHECK(Arguments(driver, &signature, nullptr, extra).parameter(1, 16) == nullptr);
  void* broken[] = {reinterpret_cast<void*>(77), buffer, nullptr};
  CHECK(Arguments(driver, &signature, nullptr, broken).parameter(0, 4) == nullptr);
  CHECK(Arguments(driver, &signature, nullptr, nullptr).parameter(0, 4) == nullptr);
  CHECK(Arguments(driver, nullptr, arguments, nullptr).parameter(0, 4) == nullptr);
  CHECK(Arguments(Driver{}, &signature, arguments, nullptr).parameter(0, 4) == nullptr);
  void* missing[] = {&count, nullptr, &flag};
  CHECK(Arguments(driver, &signature, missing, nullptr).parameter(1, 16) == nullptr);
  CHECK_FALSE(Arguments(Driver{}, &signature, arguments, nullptr).each_word([](auto, auto, auto) {}));
}

TEST_CASE("a stream keeps its casts until something else runs there") {
  const auto casts = zeroed<StreamCasts>();
  const StreamKey stream{handle<void>(1), handle<void>(2), 1};
  const std::uint64_t inputs[kInputs] = {100, 5000, 900};
  StreamCast found[kInputs];
  casts->add(stream, cast_to(100, 50, 3));
  casts->add(stream, cast_to(900, 50, 4));
  REQUIRE(casts->take(stream, inputs, found));
  CHECK(found[0].launch == 3);
  CHECK(found[1].launch == StreamCasts::kNoLaunch);
  CHECK(found[2].launch == 4);
  CHECK_FALSE(casts->take(stream, inputs, found));  // only the next attention
  const StreamKey others[] = {{handle<void>(9), handle<void>(2), 1},
                              {handle<void>(1), handle<void>(9), 1},
                              {handle<void>(1), handle<void>(2), 2}};
  for (const StreamKey& other : others) {
    casts->add(stream, cast_to(100, 50, 3));
    CHECK_FALSE(casts->take(other, inputs, found));
  }
  casts->add(stream, cast_to(100, 50, 3));
  casts->end(stream);
  CHECK_FALSE(casts->take(stream, inputs, found));
  for (const std::uint64_t over :
       {100U, 199U, 1U}) {  // of 100 bytes each: a later cast writes into the earlier one
    casts->add(stream, cast_to(100, 50, 3));
    casts->add(stream, cast_to(over, 50, 5));
    CHECK(casts->take(stream, {100, 100, 100}, found) == (over == 100));
    CHECK(found[0].launch == (over == 100 ? 5 : StreamCasts::kNoLaunch));
    casts->end(stream);
  }
  for (std::uint32_t i = 0; i < 1000; ++i) casts->add(stream, cast_to(100 + i * 1000, 50, i));
  (void)casts->take(stream, inputs, found);
}

TEST_CASE("threads at one stream lose casts and never mix them") {
  const auto casts = zeroed<StreamCasts>();
  const StreamKey stream{handle<void>(1), handle<void>(2), 1};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      StreamCast found[kInputs];
      for (std::uint32_t i = 0; i < 20000; ++i) {
        casts->add(stream, cast_to(0x1000 * (thread + 1), 50, thread));
        if (i % 3 == 0) casts->end(stream);
        if (!casts->take(stream, {0x1000, 0x2000, 0x3000}, found)) continue;
        for (std::uint32_t role = 0; role < kInputs; ++role)
          if (found[role].launch != StreamCasts::kNoLaunch && found[role].launch != role) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("what a graph holds runs as often as it is launched") {
  const auto launches = zeroed<Launches>();
  const auto graphs = zeroed<Graphs>();
  const void* graph = handle<void>(0x10);
  const void* first = handle<void>(0x20);
  const void* second = handle<void>(0x30);
  graphs->captured(graph, 7);
  graphs->captured(graph, 7);
  graphs->captured(graph, 8);
  graphs->instantiated(*launches, first, handle<void>(0x99), graph);  // from a copy of it
  graphs->captured(graph, 8);                                         // another graph at its address
  graphs->instantiated(*launches, second, graph, nullptr);
  for (int i = 0; i < 5; ++i) graphs->replayed(first);
  for (int i = 0; i < 3; ++i) graphs->replayed(second);
  graphs->replayed(handle<void>(0x777));
  graphs->settle(*launches);
  CHECK((*launches)[7].replayed == 10);
  CHECK((*launches)[8].replayed == 8);
  CHECK(graphs->replays() == 9);
}

TEST_CASE("our own kernels have their operands where the row says") {
  const KernelParameters* row = parameters(find_parameters("_ZN9flash_ref20attention_fwd_kernelIfEEvT_"));
  REQUIRE(row != nullptr);
  const std::size_t offsets[kInputs] = {offsetof(AttentionProblem, q), offsetof(AttentionProblem, k),
                                        offsetof(AttentionProblem, v)};
  for (std::size_t i = 0; i < kInputs; ++i) CHECK(row->places[i].offset == offsets[i]);
}

TEST_CASE("each row of parameters is a kernel that names prove") {
  struct Row {
    const char* name;
    KernelKind kind;
  };
  const Row rows[] = {
      {"_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_cudaERNS_"
       "18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
       KernelKind::kCast},
      {"_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_24float16_copy_kernel_cudaERNS_"
       "18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
       KernelKind::kCast},
      {"_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_23float8_copy_kernel_cudaERNS_"
       "18TensorIteratorBaseEEUlfE0_St5arrayIPcLm2EEEEviT0_T1_",
       KernelKind::kCast},
      {"_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_"
       "18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_"
       "St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_"
       "13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_",
       KernelKind::kCast},
      {"_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"
       "traitsILi128ELi64ELi64ELi4ELb0ELb0EN7cutlass6half_tE19Flash_kernel_traitsILi128ELi64ELi64ELi4ES3_"
       "EELb0ELb1ELb0ELb1ELb0ELb0ELb0ELb0EEEvNS_16Flash_fwd_paramsE",
       KernelKind::kAttention},
      {"_ZN5flash24flash_fwd_splitkv_kernelI23Flash_fwd_kernel_"
       "traitsILi64ELi64ELi256ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_"
       "traitsILi64ELi64ELi256ELi4ES3_EELb0ELb0ELb0ELb0ELb1ELb0ELb0ELb0EEEvNS_16Flash_fwd_paramsE",
       KernelKind::kAttention},
      {"_ZN9flash_ref20attention_fwd_kernelI13__nv_bfloat16S1_S1_S1_Li128ELNS_7MaskingE0EEEvNS_"
       "15AttentionLaunchE",
       KernelKind::kAttention},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80", KernelKind::kAttention},
  };
  std::uint32_t last = 0;
  for (const Row& row : rows) {
    INFO(row.name);
    const std::uint32_t found = find_parameters(row.name);
    CHECK(found == last + 1);  // in the table's order, each of them
    last = found;
    REQUIRE(parameters(found) != nullptr);
    CHECK(read_kernel_name(row.name).kind == row.kind);
    CHECK(parameters(found)->is_cast == (row.kind == KernelKind::kCast));
  }
  CHECK(parameters(last + 1) == nullptr);
  for (const char* other : {"", "ampere_sgemm_128x64_tn", "fmha_cutlassB_f16_aligned_64x64_k64_sm80",
                            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
                            "addIfEESt5arrayIPcLm3EEEEviT0_T1_"})
    CHECK(find_parameters(other) == 0);
}

}  // namespace dtype_guard::san::cupti
