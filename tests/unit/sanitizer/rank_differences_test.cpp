#include "sanitizer/symbolize/rank_differences.h"

#include "tests/catch.h"

using namespace dtype_guard::san;

namespace {

RankCall call(int rank, const char* dtype, const char* place = "model.py:7") {
  return {rank, "flash_ref_rotary", place, {{"x", "bfloat16"}, {"cos", dtype}}};
}

}  // namespace

TEST_CASE("the rank whose dtype is another one at a place is named first") {
  const auto found = rank_differences({call(0, "bfloat16"), call(1, "bfloat16"), call(3, "float32")});
  REQUIRE(found.size() == 1);
  CHECK(found[0].api == "flash_ref_rotary");
  CHECK(found[0].place == "model.py:7");
  CHECK(found[0].detail == "cos is float32 in rank 3, bfloat16 in ranks 0-1");
}

TEST_CASE("ranks differ where one has two dtypes at one place and the others one of them") {
  const auto found =
      rank_differences({call(0, "float32"), call(1, "float32"), call(2, "float32"), call(1, "bfloat16")});
  REQUIRE(found.size() == 1);
  CHECK(found[0].detail == "cos is bfloat16 and float32 in rank 1, float32 in ranks 0, 2");
}

TEST_CASE("ranks that all have the same two dtypes at one place do not differ") {
  CHECK(rank_differences({call(0, "float32"), call(0, "bfloat16"), call(1, "bfloat16"), call(1, "float32")})
            .empty());
}

TEST_CASE("ranks with different dtypes at different places do not differ") {
  CHECK(rank_differences({call(0, "float32", "a.py:1"), call(1, "bfloat16", "b.py:1")}).empty());
}

TEST_CASE("few ranks that take another way with another dtype are named") {
  std::vector<RankCall> calls;
  for (int rank : {0, 1, 2, 4, 5}) calls.push_back(call(rank, "bfloat16", "a.py:1"));
  calls.push_back(call(3, "float32", "b.py:9"));
  const auto found = rank_differences(calls);
  REQUIRE(found.size() == 1);
  CHECK(found[0].place == "b.py:9");
  CHECK(found[0].detail == "cos is float32 in rank 3; at other places cos bfloat16 in ranks 0-2, 4-5");

  calls.push_back(call(3, "bfloat16", "a.py:1"));  // what the others do, and something besides
  CHECK(rank_differences(calls).empty());
}

TEST_CASE("halves of a job that differ are stages of a pipeline") {
  std::vector<RankCall> calls;
  for (int rank = 0; rank < 4; ++rank) calls.push_back(call(rank, "bfloat16", "a.py:1"));
  for (int rank = 4; rank < 8; ++rank) calls.push_back(call(rank, "float32", "b.py:1"));
  CHECK(rank_differences(calls).empty());
}

TEST_CASE("runs of ranks are shortened") {
  CHECK(describe_ranks({3}) == "rank 3");
  CHECK(describe_ranks({0, 1, 2, 5, 7, 8}) == "ranks 0-2, 5, 7-8");
}
