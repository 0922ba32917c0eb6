// Stores that refuse a source of another dtype: a cache of keys or values, where what they write goes on to
// attention. What PyTorch refuses was asked of 2.13: index_copy, index_add, index_put, scatter and
// masked_scatter do, copy_ and slices convert.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;
const std::string kSettings = "[autocast-fp16 autocast-bf16 fp16-fp32-buffers bf16-fp32-buffers]";

// A float32 cache (%11, made in line 7) into which `store` writes the bf16 keys (%2).
std::string cache_main(const std::string& store, const std::string& k) {
  return attention_main(
      "  %10 = const int64\n  %12 = op arange(%100, dtype=%10)\n  %11 = op zeros(%101) ; 7:3-7:9\n" + store,
      "%1", k, "%3");
}
const std::string kCopy = "  %13 = op index_copy(self=%11, dim=%100, index=%12, source=%2) ; 8:3-8:9\n";

TEST_CASE("a half source does not go into a float32 cache that attention gets") {
  CHECK(findings(cache_main(kCopy, "%13")) == Found{"7 kv-cache-dtype-mismatch self in main " + kSettings});
}

TEST_CASE("a store that attention never sees refuses what the code itself states to differ") {
  const Found found{"8 operator-mixed-dtypes self in main " + kSettings};
  CHECK(findings(cache_main(kCopy, "%2")) == found);
  CHECK(findings(cache_main(kCopy + "  %14 = op gt(self=%13, other=%2)\n", "%2")) == found);
}

TEST_CASE("what a store wrote is known through views, variables, lists and other stores") {
  const std::string through =
      "  %14 = op transpose(self=%13, dim0=%100, dim1=%100)\n  store a, %14\n  %15 = load a\n"
      "  %16 = pack(%15, %3)\n  %17 = const 0\n  %18 = op subscript(self=%16, index=%17)\n"
      "  %19 = op cat(tensors=%16)\n";
  CHECK(findings(cache_main(kCopy + through, "%18")).size() == 1);
  CHECK(findings(cache_main(kCopy + through, "%19")).size() == 1);
}

TEST_CASE("in place the tensor itself is what was written, and the call behind it is the same matter") {
  const std::string scatter = "  %13 = op scatter_(self=%11, dim=%100, index=%12, src=%2) ; 8:3-8:9\n";
  CHECK(findings(cache_main(scatter, "%11")) ==
        Found{"7 kv-cache-dtype-mismatch k,self in main " + kSettings});
  CHECK(findings(cache_main("  %13 = op copy_(self=%11, src=%2) ; 8:3-8:9\n", "%11")) ==
        Found{"7 attention-mixed-dtypes k in main " + kSettings});
}

TEST_CASE("a cache of the source's dtype takes it") {
  const std::string like = "  %11 = op zeros(%101, dtype=%102) ; 7:3-7:9\n";
  const std::string text = cache_main(kCopy, "%13");
  const std::string made = "  %11 = op zeros(%101) ; 7:3-7:9\n";
  CHECK(findings(std::string(text).replace(text.find(made), made.size(), like)).empty());
}

TEST_CASE("a promoted source is the one to blame where the cache is half") {
  const std::string promoted =
      "  %20 = op ones(%101)\n  %21 = op mul(%2, %20) ; 9:3-9:9 \"k * scale\"\n"
      "  %22 = op zeros(%101, dtype=%102)\n"
      "  %13 = op index_add_(self=%22, dim=%100, index=%12, source=%21) ; 10:3-10:9\n";
  CHECK(findings(cache_main(promoted, "%22")) ==
        Found{"9 kv-cache-dtype-mismatch source in main " + kSettings});
}

TEST_CASE("a mask takes one value of any dtype, and what is perhaps no tensor takes all") {
  const auto put = [](const std::string& index, const std::string& values = "%2") {
    return "  %14 = pack(" + index + ")\n  %13 = op index_put(self=%11, indices=%14, values=" + values +
           ") ; 8:3-8:9\n";
  };
  CHECK(findings(cache_main(put("%12"), "%13")).size() == 1);
  CHECK(findings(cache_main("  %15 = const unknown\n" + put("%15"), "%13")).empty());
  const std::string mask = "  %15 = op gt(self=%2, other=%3)\n";
  const std::string many = "  %17 = op linear(input=%2, weight=%3)\n";
  CHECK(findings(cache_main(mask + many + put("%15", "%17"), "%13")) ==
        Found{"7 kv-cache-dtype-mismatch k,self in main " + kSettings});
  const std::string one = "  %16 = op sum(self=%2)\n";
  CHECK(findings(cache_main(mask + one + put("%15", "%16"), "%13")) ==
        Found{"7 attention-mixed-dtypes k in main " + kSettings});  // the call behind refuses the cache
}

TEST_CASE("what autocast casts before a store is not refused") {
  const std::string on = "  %30 = const true\n  set_autocast cuda(on=%30, dtype=%102)\n";
  const std::string put =
      "  %14 = pack(%12)\n  %13 = op index_put(self=%11, indices=%14, values=%2) ; 8:3-8:9\n"
      "  %16 = op to(self=%13, dtype=%102)\n";
  CHECK(findings(cache_main(put, "%16")).size() == 1);
  CHECK(findings(cache_main(on + put, "%16")).empty());
  CHECK(findings(cache_main(on + kCopy, "%13")).size() == 1);  // on CUDA no list has it
}

TEST_CASE("scores by hand make a cache of what their products take") {
  const std::string scores =
      "  %14 = op matmul(self=%1, other=%13)\n  %15 = op softmax(self=%14)\n"
      "  %16 = op matmul(self=%15, other=%3)\n";
  CHECK(findings(cache_main(kCopy + scores, "%2")) ==
        Found{"7 kv-cache-dtype-mismatch self in main " + kSettings});
}

}  // namespace
}  // namespace dtype_guard::flow
