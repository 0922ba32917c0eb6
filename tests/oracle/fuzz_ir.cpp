// fuzz_ir ROUNDS: parse and analyse on arbitrary IR, from a fixed seed: programs of the oracle whose text was
// changed in a few places. Whatever comes, it is refused with a TextError or analysed within its budget.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "analyzer/flow/ir/text.h"
#include "tests/oracle/classes.h"
#include "tests/oracle/generate.h"
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
}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 1000;
  std::mt19937 random(20260722);
  long parsed = 0;
  for (long round = 0; round < rounds; ++round) {
    const auto seed = static_cast<std::uint64_t>(round);
    const flow::Module program = round % 4 == 0 ? class_files(seed).front() : generate(seed, recipe_of(seed));
    parsed += look_at(changed(flow::print(program), random));
  }
  std::printf("%ld rounds, of which %ld were IR\n", rounds, parsed);
  return parsed == 0;
}
