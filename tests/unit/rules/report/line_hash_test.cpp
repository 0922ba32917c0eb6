#include "rules/report/line_hash.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "tests/catch.h"

using namespace dtype_guard;

namespace {

using Units = std::vector<std::uint64_t>;

// The definition, without a ring: a polynomial over the 100 kept characters from the line's start, with an
// end mark and zeros behind the last one. ASCII only.
std::vector<std::string> by_definition(const std::string& text) {
  Units kept;
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pair = text[i] == '\n' && i > 0 && text[i - 1] == '\r';
    if (text[i] == ' ' || text[i] == '\t' || pair) continue;
    const bool line_end = text[i] == '\n' || text[i] == '\r';
    kept.push_back(line_end ? '\n' : static_cast<unsigned char>(text[i]));
    if (line_end) starts.push_back(kept.size());
  }
  kept.push_back(65535);
  kept.resize(kept.size() + 100);
  std::vector<std::string> hashes;
  std::map<std::uint64_t, int> seen;
  for (std::size_t start : starts) {
    std::uint64_t hash = 0;
    for (std::size_t i = start; i < start + 100; ++i) hash = hash * 37 + kept[i];
    hashes.push_back(fmt::format("{:x}:{}", hash, ++seen[hash]));
  }
  return hashes;
}

}  // namespace

TEST_CASE("line hashes are those that GitHub's uploader computes") {
  // Values that the uploader gives for these texts.
  CHECK(line_hashes("") == std::vector<std::string>{"c129715d7a2bc9a3:1"});
  CHECK(line_hashes(" a\nb\n  \t\tc\n d") ==
        std::vector<std::string>{"271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1",
                                 "a23a3dc5e078b07b:1"});
}

TEST_CASE("line hashes follow their definition") {
  std::string code;
  for (int i = 0; i < 60; ++i)
    code += std::string(static_cast<std::size_t>(i * 7 % 150), 'a' + i % 26) + "\n";
  for (const std::string& text : {std::string("q = q * scale;\n"), std::string("\n\n\r\r\n x"), code,
                                  std::string("a\r\nb\rc\n"), std::string(1000, 'x')}) {
    CAPTURE(text);
    CHECK(line_hashes(text) == by_definition(text));
  }
}

TEST_CASE("equal lines are counted, blanks and kinds of line end do not matter") {
  std::string repeated;
  for (int i = 0; i < 30; ++i) repeated += "auto q = at::randn(shape);\n";
  const std::vector<std::string> hashes = line_hashes(repeated);
  REQUIRE(hashes.size() == 31);
  CHECK(hashes[0].substr(0, hashes[0].size() - 2) == hashes[1].substr(0, hashes[1].size() - 2));
  CHECK(hashes[0].substr(hashes[0].size() - 2) == ":1");
  CHECK(hashes[1].substr(hashes[1].size() - 2) == ":2");
  CHECK(line_hashes("a  b\n\tc\n") == line_hashes("ab\r\nc\r\n"));
  CHECK(line_hashes("a\xff\n") == line_hashes("a\xEF\xBF\xBD\n"));
}

TEST_CASE("a character beyond the 16-bit ones counts as its two surrogates, high one first") {
  // As JavaScript's charCodeAt gives U+1F600: 0xD83D, 0xDE00. Then 'a', the end mark and zeros up to 100
  // units.
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    constexpr std::uint64_t kUnits[] = {0xD83D, 0xDE00, 'a', 65535};
    hash = hash * 37 + (i < 4 ? kUnits[i] : 0);
  }
  CHECK(line_hashes("\xF0\x9F\x98\x80 a") == std::vector<std::string>{fmt::format("{:x}:1", hash)});
}
