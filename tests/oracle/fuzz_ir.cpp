// fuzz_ir ROUNDS [FIRST]: parse and analyse on arbitrary IR, from fixed seeds: programs of the oracle of
// which something was changed, of most in the program itself, of some in its text. Whatever comes, it is
// refused with a TextError or analysed within its budget. fuzz_ir --print SEED prints what that round looks
// at.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "analyzer/flow/ir/text.h"
#include "tests/oracle/classes.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/mutations.h"
#include "tests/oracle/properties.h"

namespace {
using namespace dtype_guard;
using namespace dtype_guard::oracle;

// Of numbers, names and lines some are exchanged for others of the text, so that much of it still parses.
std::string changed(std::string text, std::mt19937& random) {
  const auto token = [&](std::size_t& begin, std::size_t& end) {
    begin = text.find_first_of("%b0123456789abcdefghijklmnopqrstuvwxyz", random() % text.size());
    if (begin == std::string::npos) begin = 0;
    end = std::min(text.find_first_of(" ,)\n", begin), text.size());
  };
  for (unsigned left = 1 + random() % 4; left > 0 && !text.empty(); --left) {
    std::size_t begin = 0, end = 0, other = 0, other_end = 0;
    token(begin, end);
    token(other, other_end);
    switch (random() % 5) {
      case 0:
        text.erase(begin, end - begin);
        break;
      case 1:
        text[begin % text.size()] = static_cast<char>(random());
        break;
      case 2: {  // a line twice, or somewhere else
        const std::size_t line_end = std::min(text.find('\n', begin), text.size() - 1);
        text.insert(line_end + 1, text.substr(other, text.find('\n', other) - other + 1));
        break;
      }
      default:
        text.replace(begin, end - begin, text.substr(other, other_end - other));
    }
  }
  return text;
}

bool look_at(const std::string& text) {
  flow::AnalysisOptions options;
  options.settings = flow::precision_settings();
  options.contracts = &contracts();
  options.strict = true;
  options.refusals = true;
  options.step_budget = 3000;
  options.total_budget = 20000;
  try {
    const flow::Module module = flow::parse(text);
    if (flow::print(flow::parse(flow::print(module))) != flow::print(module)) {
      std::fprintf(stderr, "does not hold: what is printed is read back\n%s", text.c_str());
      std::abort();
    }
    flow::analyse(module, options);
    return true;
  } catch (const flow::TextError&) {
    return false;
  }
}

std::string program_of(std::uint64_t seed) {
  constexpr std::uint64_t kOneInTexts = 8;
  flow::Module program = seed % 4 == 0 ? class_files(seed).front() : generate(seed, recipe_of(seed));
  if (seed % kOneInTexts == 1) {
    std::mt19937 random(static_cast<unsigned>(seed));
    return changed(flow::print(program), random);
  }
  Random random(seed + 1);
  mutate(program, random);
  return flow::print(program);
}
}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  if (argc > 1 && !std::strcmp(argv[1], "--print")) {
    std::printf("%s", program_of(number(2, 0)).c_str());
    return 0;
  }
  const std::uint64_t rounds = number(1, 1000), first = number(2, 0);
  std::uint64_t parsed = 0;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) parsed += look_at(program_of(seed));
  std::printf("%llu rounds, of which %llu were IR\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(parsed));
  return parsed < rounds / 4;
}
