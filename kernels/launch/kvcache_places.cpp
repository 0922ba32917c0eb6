// Where the keys of each sequence lie: lengths, places in the cache and pages, all of which the caller gives
// as numbers in tensors.
#include <algorithm>
#include <cstdio>
#include <new>
#include <vector>

#include "kernels/launch/kvcache_call.h"

namespace flash_ref {
namespace {

using Operands = KvCacheOperands;

// Slots of a page that belong to one sequence.
struct Slots {
  std::int64_t page, first, last;  // [first, last)
  std::int64_t sequence, number;   // number: of the page in the sequence
};

class PlaceCheck {
 public:
  PlaceCheck(const Call& call, const Operands& operands, KvCacheProblem& problem)
      : call_(call), operands_(operands), problem_(problem) {}

  int run() {
    const std::int64_t batch = problem_.attention.batch;
    problem_.attention.seq_k = problem_.cached == nullptr ? operands_.capacity() : 0;
    std::int64_t longest = problem_.cached == nullptr && batch > 0 ? operands_.capacity() : 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      if (int status = check_length(b)) return status;
      if (int status = check_positions(b)) return status;
      if (int status = check_pages(b)) return status;
      longest = std::max(longest, problem_.length_of(b));
    }
    problem_.attention.seq_k = longest;
    return problem_.seq_new == 0 ? FLASH_REF_OK : check_stores();
  }

 private:
  int check_length(std::int64_t b) {
    const std::int64_t length = problem_.cached_of(b), capacity = operands_.capacity();
    const std::int64_t most = capacity - problem_.seq_new;
    if (length >= 0 && length <= most) return FLASH_REF_OK;
    const auto at = static_cast<long long>(b), found = static_cast<long long>(length);
    if (length < 0) {
      return call_.fail(FLASH_REF_BAD_VALUE, "seqlens_k[%lld] is %lld; expected at least 0", at, found);
    }
    return call_.fail(FLASH_REF_BAD_VALUE,
                      "seqlens_k[%lld] is %lld and k has %lld new keys; expected %lld together at most (%s)",
                      at, found, static_cast<long long>(problem_.seq_new), static_cast<long long>(capacity),
                      operands_.paged() ? "pages_of_sequence times page_size" : "the capacity of k_cache");
  }

  // Positions that are rotated have a row in the tables.
  int check_positions(std::int64_t b) {
    if (problem_.cos == nullptr) return FLASH_REF_OK;
    const AttentionProblem& attention = problem_.attention;
    const bool asks = attention.seq_q > 0 && attention.heads > 0;
    const std::int64_t of_q = !asks ? 0 : problem_.queries_advance ? attention.seq_q : 1;
    const std::int64_t rotated = std::max(of_q, problem_.seq_new);
    const std::int64_t needed = rotated == 0 ? 0 : problem_.cached_of(b) + rotated;
    const std::int64_t rows = operands_[Operands::kCos].sizes[0];
    if (needed <= rows) return FLASH_REF_OK;
    return call_.fail(FLASH_REF_BAD_SHAPE,
                      "cos has %lld rows; expected at least %lld, since seqlens_k[%lld] is %lld and %lld "
                      "positions follow",
                      static_cast<long long>(rows), static_cast<long long>(needed), static_cast<long long>(b),
                      static_cast<long long>(problem_.cached_of(b)), static_cast<long long>(rotated));
  }

  std::int64_t pages_of(std::int64_t b) const {
    const std::int64_t length = problem_.length_of(b);
    return length == 0 ? 0 : (length - 1) / problem_.page_size + 1;
  }

  // "cache_batch_idx[1] is 7" or "block_table[1, 3] is 7".
  int wrong_page(std::int64_t b, std::int64_t number, const char* expected) const {
    const auto page = static_cast<long long>(problem_.page_of(b, number));
    if (operands_.paged()) {
      return call_.fail(FLASH_REF_BAD_VALUE, "block_table[%lld, %lld] is %lld; expected %s",
                        static_cast<long long>(b), static_cast<long long>(number), page, expected);
    }
    return call_.fail(FLASH_REF_BAD_VALUE, "cache_batch_idx[%lld] is %lld; expected %s",
                      static_cast<long long>(b), page, expected);
  }

  int check_pages(std::int64_t b) const {
    if (problem_.pages == nullptr) return FLASH_REF_OK;
    const std::int64_t count = operands_[Operands::kKCache].sizes[0];
    // Without pages, the place of a sequence is checked even where nothing is read from it.
    const std::int64_t numbers = operands_.paged() ? pages_of(b) : 1;
    for (std::int64_t number = 0; number < numbers; ++number) {
      const std::int64_t page = problem_.page_of(b, number);
      if (page >= 0 && page < count) continue;
      char expected[96];
      const char* of = operands_.paged() ? "pages" : "cache_batch";
      if (count == 0) {
        std::snprintf(expected, sizeof expected, "none, since k_cache has no %s", of);
      } else {
        std::snprintf(expected, sizeof expected, "0 to %lld (%s of k_cache)",
                      static_cast<long long>(count - 1), of);
      }
      return wrong_page(b, number, expected);
    }
    return FLASH_REF_OK;
  }

  // No other sequence may use the places that new keys overwrite: the result would depend on the order.
  int check_stores() const {
    if (problem_.pages == nullptr) return FLASH_REF_OK;
    try {
      std::vector<Slots> stores;
      each_page([&](const Slots& used) {
        const std::int64_t begin = problem_.cached_of(used.sequence) - used.number * problem_.page_size;
        if (begin < used.last)
          stores.push_back(
              {used.page, std::max<std::int64_t>(begin, 0), used.last, used.sequence, used.number});
        return FLASH_REF_OK;
      });
      const auto by_page = [](const Slots& a, const Slots& b) { return a.page < b.page; };
      std::sort(stores.begin(), stores.end(), by_page);
      return each_page([&](const Slots& used) {
        const auto same = std::equal_range(stores.begin(), stores.end(), used, by_page);
        for (auto store = same.first; store != same.second; ++store) {
          const bool own = store->sequence == used.sequence && store->number == used.number;
          if (own || store->first >= used.last) continue;
          char expected[96];
          std::snprintf(expected, sizeof expected,
                        "a place of its own, since new keys of sequence %lld go there",
                        static_cast<long long>(store->sequence));
          return wrong_page(used.sequence, used.number, expected);
        }
        return static_cast<int>(FLASH_REF_OK);
      });
    } catch (const std::bad_alloc&) {
      return call_.fail(FLASH_REF_OUT_OF_MEMORY, "no memory to compare the pages of %lld sequences",
                        static_cast<long long>(problem_.attention.batch));
    }
  }

  // Calls body with the slots that each sequence uses of each of its pages, until it returns an error.
  template <class Body>
  int each_page(const Body& body) const {
    for (std::int64_t b = 0; b < problem_.attention.batch; ++b) {
      for (std::int64_t number = 0; number < pages_of(b); ++number) {
        const std::int64_t keys = problem_.length_of(b) - number * problem_.page_size;
        const Slots used{problem_.page_of(b, number), 0, std::min(keys, problem_.page_size), b, number};
        if (int status = body(used)) return status;
      }
    }
    return FLASH_REF_OK;
  }

  const Call& call_;
  const Operands& operands_;
  KvCacheProblem& problem_;
};

}  // namespace

int check_places(const Call& call, const KvCacheOperands& operands, KvCacheProblem& problem) {
  return PlaceCheck(call, operands, problem).run();
}

}  // namespace flash_ref
