// Calls flash_ref's kernels the way the first argument names; the process tests watch it. Lines that a report
// must name carry a "call:" comment.
#include <dlfcn.h>
#include <errno.h>
#include <flash_ref/flash_ref.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr DLDataType kHalf = {2, 16, 1};
constexpr DLDataType kBrain = {4, 16, 1};
constexpr DLDataType kFloat = {2, 32, 1};

// A tensor of ones, wide enough for any dtype used here.
struct Tensor {
  std::vector<std::uint64_t> data;
  std::vector<std::int64_t> shape;
  DLTensor view;

  Tensor(std::vector<std::int64_t> sizes, DLDataType dtype) : shape(std::move(sizes)) {
    std::size_t count = 1;
    for (std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    data.assign(count, 0);
    view = {};
    view.data = data.data();
    view.device.device_type = static_cast<decltype(view.device.device_type)>(1);
    view.ndim = static_cast<int>(shape.size());
    view.dtype = dtype;
    view.shape = shape.data();
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
};

int attend(DLDataType q, DLDataType k, DLDataType v, DLDataType out) {
  Tensor tq({1, 4, 2, 8}, q), tk({1, 4, 2, 8}, k), tv({1, 4, 2, 8}, v), to({1, 4, 2, 8}, out);
  return flash_ref_attention_fwd(&tq.view, &tk.view, &tv.view, &to.view, nullptr, nullptr);  // call: attend
}

int rotate(DLDataType x, DLDataType table, DLDataType out) {
  Tensor tx({1, 4, 2, 8}, x), tc({4, 4}, table), ts({4, 4}, table), to({1, 4, 2, 8}, out);
  return flash_ref_rotary(&tx.view, &tc.view, &ts.view, &to.view, nullptr);  // call: rotate
}

// Two cached keys of eight, one new one, rotated.
int decode(DLDataType cache, DLDataType fresh, DLDataType table) {
  Tensor q({1, 1, 2, 8}, kHalf), k_cache({1, 8, 2, 8}, cache), v_cache({1, 8, 2, 8}, cache),
      k({1, 1, 2, 8}, fresh), v({1, 1, 2, 8}, fresh), cos({8, 4}, table), sin({8, 4}, table),
      lengths({1}, {0, 32, 1}), out({1, 1, 2, 8}, kHalf);
  lengths.data[0] = 2;
  return flash_ref_attention_kvcache(&q.view, &k_cache.view, &v_cache.view, &k.view, &v.view, &cos.view,
                                     &sin.view, &lengths.view, nullptr, nullptr, &out.view, nullptr,
                                     nullptr);  // call: decode
}

inline int inner(DLDataType k) {
  Tensor tq({1, 4, 2, 8}, kHalf), tk({1, 4, 2, 8}, k), tv({1, 4, 2, 8}, kHalf), to({1, 4, 2, 8}, kHalf);
  int status =
      flash_ref_attention_fwd(&tq.view, &tk.view, &tv.view, &to.view, nullptr, nullptr);  // call: inner
  return status;
}
inline __attribute__((always_inline)) int middle(DLDataType k) {
  int status = inner(k);  // call: middle
  return status + 1;
}

// Each backward function with one gradient or state of a wrong dtype: none of them runs.
int backward() {
  const std::vector<std::int64_t> sizes = {1, 4, 2, 8}, rows = {4, 2, 8};
  Tensor half(sizes, kHalf), wide(sizes, kFloat), lse({1, 2, 4}, kFloat), state({1, 2, 8, 8}, kHalf);
  Tensor row(rows, kHalf), row_lse({2, 4}, kHalf), ends({2}, {0, 32, 1});
  DLTensor* t = &half.view;
  int refused = 0;
  refused += flash_ref_attention_bwd(t, t, t, t, &lse.view, t, t, t, &wide.view, nullptr) ==
             FLASH_REF_BAD_DTYPE;  // call: attention_bwd
  t = &row.view;
  refused += flash_ref_attention_varlen_bwd(t, t, t, &ends.view, &ends.view, t, &row_lse.view, t, t, t, t,
                                            nullptr) == FLASH_REF_BAD_DTYPE;  // call: varlen_bwd
  t = &half.view;
  refused += flash_ref_rwkv7_bwd(t, t, t, t, t, t, nullptr, t, nullptr, t, t, t, t, t, t, &state.view,
                                 nullptr) == FLASH_REF_BAD_DTYPE;  // call: rwkv7_bwd
  return refused;
}

// A tensor of the options alone has a wrong dtype: a mask of `mask` beside brain floats, slopes, offsets.
int in_options(DLDataType mask, DLDataType slopes, DLDataType offsets) {
  Tensor q({1, 4, 2, 8}, kBrain), out({1, 4, 2, 8}, kBrain), a_mask({4, 4}, mask), two({2}, slopes);
  flash_ref_attention_options attention = {};
  attention.struct_size = sizeof attention;
  attention.mask = &a_mask.view;
  attention.alibi_slopes = &two.view;
  const DLTensor* t = &q.view;
  int refused = flash_ref_attention_fwd(t, t, t, &out.view, nullptr, &attention) != 0;  // call: mask
  attention.struct_size =
      offsetof(flash_ref_attention_options, softcap);  // of a version that ends before them
  refused += 10 * (flash_ref_attention_fwd(t, t, t, &out.view, nullptr, &attention) != 0);
  Tensor table({4, 4}, kBrain), first({1}, offsets);
  flash_ref_rotary_options rotary = {};
  rotary.struct_size = sizeof rotary;
  rotary.seqlen_offsets = &first.view;
  return refused + 100 * (flash_ref_rotary(t, &table.view, &table.view, &out.view, &rotary) != 0);
}

int wrong() { return attend(kHalf, kFloat, kHalf, kHalf); }

// The same frames around the call, more than a place tells apart, below twenty ways to them.
template <int deeper>
__attribute__((noinline)) int through() {
  const int status = deeper == 0 ? wrong() : through<(deeper > 0 ? deeper - 1 : 0)>();
  asm volatile("");
  return status;
}
template <int way>
__attribute__((noinline)) int from_way() {
  const int status = through<6>();
  asm volatile("" : : "r"(way));
  return status;
}
template <int... way>
int ways(long count, std::integer_sequence<int, way...>) {
  int status = 0;
  for (long i = 0; i < count; ++i) ((status |= from_way<way>()), ...);
  return status;
}

int wrong_times(long count) {
  int status = 0;
  for (long i = 0; i < count; ++i) status |= wrong();
  return status;
}

void threads(long count, long calls) {
  std::vector<std::thread> running;
  for (long t = 0; t < count; ++t)
    running.emplace_back([=] {
      for (long i = 0; i < calls; ++i) {
        wrong();
        attend(kHalf, kHalf, kHalf, kHalf);
      }
    });
  for (std::thread& one : running) one.join();
}

int broken_descriptors() {
  Tensor good({1, 4, 2, 8}, kHalf), odd({1, 4, 2, 8}, {77, 3, 1});
  auto* bad = reinterpret_cast<const DLTensor*>(8);  // must not be read: q is NULL
  int status = flash_ref_attention_fwd(nullptr, bad, bad, nullptr, nullptr, nullptr);
  std::printf("null q: %d\n", status);
  status = flash_ref_attention_fwd(&odd.view, &good.view, &good.view, &good.view, nullptr, nullptr);
  std::printf("no such dtype: %d\n", status != 0);
  Tensor no_shape({1, 4, 2, 8}, kFloat);
  no_shape.view.shape = reinterpret_cast<std::int64_t*>(16);
  status = flash_ref_attention_fwd(&good.view, &no_shape.view, &good.view, &good.view, nullptr, nullptr);
  std::printf("bad shape pointer: %d\n", status != 0);
  return 0;
}

// Each call is a finding of its own; its number is printed when the call has returned. Waits for a byte of
// input before the call with the number `pause_at`.
int numbers(long count, long pause_at) {
  for (long i = 0; i < count; ++i) {
    if (char byte = 0; i == pause_at && read(STDIN_FILENO, &byte, 1) < 0) return 2;
    attend(kHalf, {2, static_cast<std::uint8_t>(1 + i % 120), static_cast<std::uint16_t>(2 + i / 120)}, kHalf,
           kHalf);
    std::printf("%ld\n", i);
    std::fflush(stdout);
  }
  return 0;
}

// Wrong calls: 1 as started, 2 after switching on, 3 after switching off.
int switched() {
  int (*watch)(int) = nullptr;
  if (void* found = dlsym(RTLD_DEFAULT, "dtype_san_switch")) std::memcpy(&watch, &found, sizeof watch);
  wrong();
  if (watch != nullptr) watch(1);
  wrong_times(2);
  if (watch != nullptr) watch(0);
  wrong_times(3);
  return 0;
}

int fork_child() {
  wrong();
  pid_t child = fork();
  if (child == 0) exit(wrong_times(3) != 0 ? 5 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int close_everything() {
  wrong();
  for (int descriptor = 3; descriptor < 256; ++descriptor) close(descriptor);
  // Takes the numbers that the journal had: nothing may be written here.
  std::FILE* mine = std::tmpfile();
  for (int i = 0; i < 150; ++i) dup(fileno(mine));
  wrong_times(7);
  std::printf("own file has %ld bytes\n", static_cast<long>(lseek(fileno(mine), 0, SEEK_END)));
  return 0;
}

int run(const std::string& mode, long count, long calls) {
  if (mode == "decode") return decode(kHalf, kHalf, kHalf);
  if (mode == "cache") return decode(kHalf, kBrain, kHalf);
  if (mode == "cache-tables") return decode(kHalf, kHalf, kFloat);
  if (mode == "clean") return attend(kHalf, kHalf, kHalf, kHalf) + rotate(kBrain, kBrain, kBrain);
  if (mode == "wrong") return wrong_times(count) != 0 ? 4 : 0;
  if (mode == "ways") return ways(count, std::make_integer_sequence<int, 20>()) != 0 ? 4 : 0;
  if (mode == "all-float") return attend(kFloat, kFloat, kFloat, kFloat) != 0 ? 4 : 0;
  if (mode == "rotary") return rotate(kFloat, kBrain, kFloat) != 0 ? 4 : 0;
  if (mode == "backward") return backward();
  if (mode == "options") return in_options(kFloat, kFloat, {0, 32, 1});
  if (mode == "wrong options") return in_options(kHalf, kBrain, {0, 64, 1});
  if (mode == "inlined") return middle(kFloat) != 0 ? 4 : 0;
  if (mode == "threads") threads(count, calls);
  if (mode == "numbers") return numbers(count, -1);
  if (mode == "numbers-in-two") return numbers(count, calls);
  if (mode == "fp8") return attend({2, 8, 1}, {2, 8, 1}, {2, 8, 1}, {2, 8, 1}) != 0 ? 4 : 0;
  if (mode == "switched") return switched();
  if (mode == "broken") return broken_descriptors();
  if (mode == "exec") {
    wrong_times(6);
    execl("/proc/self/exe", "the-next", "wrong", nullptr);
  }
  if (mode == "fork") return fork_child();
  if (mode == "close") return close_everything();
  if (mode == "kill") wrong_times(5), raise(SIGKILL);
  if (mode == "segv") wrong(), raise(SIGSEGV);
  if (mode == "_exit") wrong_times(3), _exit(6);
  if (mode == "signal") {  // which the shell that started the tests in its background has ignored, perhaps
    signal(static_cast<int>(count), SIG_DFL);
    return raise(static_cast<int>(count));
  }
  if (mode == "errno") {
    errno = 77;
    wrong();
    return errno == 77 ? 0 : 1;
  }
  if (mode == "status") {
    std::printf("%d %d %s\n", attend(kHalf, kHalf, kHalf, kHalf), wrong(), flash_ref_last_error());
    return 0;
  }
  if (mode == "wait") {
    signal(SIGTERM, [](int) { _exit(42); });
    std::puts("ready");
    std::fflush(stdout);
    for (;;) pause();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc > 1 ? argv[1] : "clean", argc > 2 ? std::atol(argv[2]) : 1,
             argc > 3 ? std::atol(argv[3]) : 1);
}
