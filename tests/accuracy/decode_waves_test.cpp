// Decoding of a batch whose unfinished rows are too many for one wave: each sequence gets the bits that it
// gets alone, and the memory does not grow with the batch.
#include "tests/accuracy/test_tensor.h"
#include "tests/catch.h"

using namespace flash_ref_test;

namespace {

constexpr std::int64_t kHeads = 32, kDim = 64, kKeys = 4096, kPage = 256;
constexpr std::int64_t kAtMost = std::int64_t{20} << 20;  // bytes, whatever the batch

// Sequences from `first` on of one batch: each has its own queries and length, and all have the same pages.
struct Decoding {
  std::int64_t first, batch;
  TestTensor q, k, v, lengths, pages, out, lse;
  flash_ref_kvcache_options options{};

  Decoding(std::int64_t first_sequence, std::int64_t sequences, const std::vector<double>& queries,
           const std::vector<double>& keys, const std::vector<double>& values)
      : first(first_sequence),
        batch(sequences),
        q({batch, 1, kHeads, kDim}, kBFloat16),
        k({kKeys / kPage, kPage, 1, kDim}, kBFloat16),
        v({kKeys / kPage, kPage, 1, kDim}, kBFloat16),
        lengths({batch}, kInt32),
        pages({batch, kKeys / kPage}, kInt32),
        out({batch, 1, kHeads, kDim}, kBFloat16),
        lse({batch, kHeads, 1}, kFloat32) {
    const auto begin = queries.begin() + first * kHeads * kDim;
    q.set({begin, begin + batch * kHeads * kDim});
    k.set(keys), v.set(values);
    for (std::int64_t b = 0; b < batch; ++b) {
      lengths.set_bits(static_cast<std::size_t>(b), static_cast<std::uint32_t>(kKeys - (first + b) * 13));
      for (std::int64_t page = 0; page < kKeys / kPage; ++page)
        pages.set_bits(static_cast<std::size_t>(b * kKeys / kPage + page), static_cast<std::uint32_t>(page));
    }
    options.struct_size = sizeof options;
    options.num_splits = 16;
  }

  std::size_t workspace() {
    std::size_t bytes = 0;
    REQUIRE(flash_ref_attention_kvcache_workspace(&q, &k, &v, nullptr, nullptr, nullptr, nullptr, &lengths,
                                                  nullptr, &pages, &options, &bytes) == FLASH_REF_OK);
    return bytes;
  }

  int run() {
    return flash_ref_attention_kvcache(&q, &k, &v, nullptr, nullptr, nullptr, nullptr, &lengths, nullptr,
                                       &pages, &out, &lse, &options);
  }
};

// The bits of sequence `b`, `count` elements of it.
std::vector<std::uint32_t> part(const TestTensor& tensor, std::int64_t b, std::int64_t count) {
  const std::vector<std::uint32_t> bits = tensor.all_bits();
  return {bits.begin() + b * count, bits.begin() + (b + 1) * count};
}

}  // namespace

TEST_CASE("a batch that is decoded in waves has the bits of its sequences, and no more memory", "[cpu]") {
  constexpr std::int64_t kBatch = 250;
  std::mt19937 random(17);
  const auto queries = random_values(random, kBatch * kHeads * kDim, kBFloat16),
             keys = random_values(random, kKeys * kDim, kBFloat16),
             values = random_values(random, kKeys * kDim, kBFloat16);
  Decoding all(0, kBatch, queries, keys, values);
  CHECK(all.workspace() < kAtMost);
  REQUIRE(all.run() == FLASH_REF_OK);
  CHECK(all.out.guards_intact());
  for (std::int64_t b = 0; b < kBatch; b += b < 118 || b > 128 ? 29 : 1) {
    Decoding one(b, 1, queries, keys, values);
    REQUIRE(one.run() == FLASH_REF_OK);
    INFO("sequence " << b);
    CHECK(one.out.all_bits() == part(all.out, b, kHeads * kDim));
    CHECK(one.lse.all_bits() == part(all.lse, b, kHeads));
  }
}

TEST_CASE("forward of a batch that is decoded in waves has the bits of its sequences, and no more memory",
          "[cpu]") {
  constexpr std::int64_t kBatch = 1500, kLength = 1024;
  std::mt19937 random(19);
  TestTensor q({kBatch, 1, kHeads, kDim}, kBFloat16), k({1, kLength, 1, kDim}, kBFloat16),
      v({1, kLength, 1, kDim}, kBFloat16), out({kBatch, 1, kHeads, kDim}, kBFloat16),
      out_of_one({1, 1, kHeads, kDim}, kBFloat16);
  const auto queries = random_values(random, kBatch * kHeads * kDim, kBFloat16);
  q.set(queries);
  k.set(random_values(random, kLength * kDim, kBFloat16)),
      v.set(random_values(random, kLength * kDim, kBFloat16));
  std::int64_t shape[] = {kBatch, kLength, 1, kDim}, strides[] = {0, kDim, kDim, 1};
  DLTensor keys = k.tensor(), values = v.tensor();
  keys.shape = values.shape = shape, keys.strides = values.strides = strides;
  flash_ref_attention_options options{};
  options.struct_size = sizeof options;
  std::size_t bytes = 0;
  REQUIRE(flash_ref_attention_fwd_workspace(&q, &keys, &values, &options, &bytes) == FLASH_REF_OK);
  CHECK(bytes < kAtMost);
  REQUIRE(flash_ref_attention_fwd(&q, &keys, &values, &out, nullptr, &options) == FLASH_REF_OK);
  for (std::int64_t b = 0; b < kBatch; b += b < 985 || b > 995 ? 97 : 1) {
    TestTensor one({1, 1, kHeads, kDim}, kBFloat16);
    const auto begin = queries.begin() + b * kHeads * kDim;
    one.set({begin, begin + kHeads * kDim});
    REQUIRE(flash_ref_attention_fwd(&one, &k, &v, &out_of_one, nullptr, &options) == FLASH_REF_OK);
    INFO("sequence " << b);
    CHECK(out_of_one.all_bits() == part(out, b, kHeads * kDim));
  }
}
