// What a process can do to the library: fork after a call that used threads, and run out of memory.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/catch.h"
#include "tests/unit/kernels/calls.h"

using namespace flash_ref_test;

namespace {

// Large enough for threads.
struct LargeCall {
  TestTensor q{{1, 300, 4, 64}, kFloat16}, k{{1, 300, 4, 64}, kFloat16}, v{{1, 300, 4, 64}, kFloat16},
      out{{1, 300, 4, 64}, kFloat16};

  LargeCall() {
    std::mt19937 random(71);
    q.set(random_values(random, q.size(), kFloat16));
    k.set(random_values(random, k.size(), kFloat16));
    v.set(random_values(random, v.size(), kFloat16));
  }
  int run() { return flash_ref_attention_fwd(&q, &k, &v, &out, nullptr, nullptr); }
};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Bytes of address space in use.
rlim_t address_space() {
  unsigned long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  REQUIRE(std::fscanf(file, "%lu", &pages) == 1);
  std::fclose(file);
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}
#endif

}  // namespace

TEST_CASE("a process forked after a call with threads can call too, and gets the same bits") {
  LargeCall parent;
  REQUIRE(parent.run() == FLASH_REF_OK);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(300);  // ends a child that hangs
    LargeCall call;
    _exit(call.run() == FLASH_REF_OK && call.out.memory() == parent.out.memory() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(parent.run() == FLASH_REF_OK);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("without memory for the workspace the call says so and writes nothing") {
  constexpr std::int64_t kDim = 1 << 17;
  TestTensor small({1, 1, 1, kDim}, kFloat16), out({1, 48, 1, kDim}, kFloat16);
  std::int64_t shape[4] = {1, 48, 1, kDim}, strides[4] = {0, 0, 0, 1};
  DLTensor input = small.tensor();
  input.shape = shape;
  input.strides = strides;
  const auto before = out.memory();
  rlimit limit{}, lower{};
  REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
  lower = limit;
  lower.rlim_cur = address_space() + (std::size_t{16} << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &lower) == 0);
  const int status = flash_ref_attention_fwd(&input, &input, &input, &out, nullptr, nullptr);
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(status == FLASH_REF_OUT_OF_MEMORY);
  CHECK(std::string(flash_ref_last_error()).find("bytes could not be allocated") != std::string::npos);
  CHECK(out.memory() == before);
}

TEST_CASE("attention of 32,768 tokens takes the workspace of 2,048 and nothing else") {
  constexpr std::int64_t kDim = 64;
  REQUIRE(LargeCall{}.run() == FLASH_REF_OK);  // threads that it starts have their stacks before the limit
  TestTensor row({1, 1, 2, kDim}, kFloat16), out({1, 32768, 2, kDim}, kFloat16);
  flash_ref_attention_options options{};
  options.struct_size = sizeof options;
  options.causal = 1;
  options.window = 300;
  std::int64_t shape[4] = {1, 2048, 2, kDim}, strides[4] = {0, 0, kDim, 1};
  DLTensor input = row.tensor();
  input.shape = shape;
  input.strides = strides;
  std::size_t few = 0, many = 0;
  REQUIRE(flash_ref_attention_fwd_workspace(&input, &input, &input, &options, &few) == FLASH_REF_OK);
  shape[1] = 32768;
  REQUIRE(flash_ref_attention_fwd_workspace(&input, &input, &input, &options, &many) == FLASH_REF_OK);
  CHECK(few == many);
  std::vector<std::uint8_t> workspace(few);
  options.workspace = workspace.data();
  options.workspace_bytes = workspace.size();
  rlimit limit{}, lower{};
  REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
  lower = limit;
  lower.rlim_cur = address_space() + (std::size_t{1} << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &lower) == 0);
  const int status = flash_ref_attention_fwd(&input, &input, &input, &out, nullptr, &options);
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(status == FLASH_REF_OK);
}
#endif
