// Inputs from a fixed seed for the Python front end: `fuzz_python_inputs COUNT FILE...` cuts, repeats and
// mixes pieces of the files and of the language's words, COUNT times, and stops where one takes more than
// some seconds.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/python_target.h"

namespace {
constexpr double kSeconds = 20;  // of CPU for one input
constexpr std::size_t kLargest = 20000;

const std::vector<std::string> kWords = {"*(",
                                         "*[",
                                         "def f(x=",
                                         "class Base(",
                                         "lambda x:",
                                         "match x:\n    case ",
                                         "@",
                                         "async ",
                                         "await ",
                                         "yield ",
                                         "return ",
                                         " for x in",
                                         "if ",
                                         " else ",
                                         "with ",
                                         "try:\n",
                                         "except ",
                                         "import ",
                                         "from .",
                                         " as ",
                                         "\n",
                                         "\n    ",
                                         "\n\t",
                                         "\\\n",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         ",",
                                         ":",
                                         "=",
                                         ":=",
                                         "**",
                                         "->",
                                         "'",
                                         "\"\"\"",
                                         "f'{x",
                                         "#",
                                         "\r\n",
                                         "\xEF\xBB\xBF",
                                         "\xff",
                                         "é",
                                         "global f\n",
                                         "self.",
                                         "torch.",
                                         "super().",
                                         "functools.partial(",
                                         "self",
                                         "f",
                                         "Base",
                                         "forward",
                                         "1e9"};

std::string mutated(const std::vector<std::string>& seeds, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  std::string text = seeds[below(seeds.size())];
  for (std::size_t step = 1 + below(6); step > 0; --step) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 200) + 1);
    const std::string piece = text.substr(at, length);
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        for (std::size_t times = below(40); times > 0 && text.size() < kLargest; --times)
          text.insert(at, piece);
        break;
      case 2:
        for (std::size_t times = 1 + below(300); times > 0; --times)
          text.insert(at, kWords[below(kWords.size())]);
        break;
      case 3: {
        const std::string& word = kWords[below(kWords.size())];
        for (std::size_t times = below(400); times > 0; --times) text.insert(at, word);
        break;
      }
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      default: {
        const std::string& other = seeds[below(seeds.size())];
        const std::size_t from = below(other.size() + 1);
        text.insert(at, other.substr(from, below(600)));
      }
    }
  }
  return text.substr(0, kLargest);
}

void keep(const std::string& input) { std::ofstream("python_input", std::ios::binary) << input; }
}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> seeds;
  for (int i = 2; i < count; ++i) {
    std::ifstream in(arguments[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: fuzz_python_inputs COUNT FILE...\n");
    return 2;
  }
  const int rounds = std::atoi(arguments[1]);
  std::mt19937 random(20240607);
  for (int i = 0; i < rounds; ++i) {
    const std::string input =
        i < static_cast<int>(seeds.size()) ? seeds[static_cast<std::size_t>(i)] : mutated(seeds, random);
    keep(input);  // what stays there where this ends is the input that did it
    const std::clock_t before = std::clock();
    dtype_guard::python::fuzz_python(input);
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (seconds <= kSeconds) continue;
    std::fprintf(stderr, "input %d took %.1f s; it is in python_input\n", i, seconds);
    return 1;
  }
  std::remove("python_input");
  std::printf("%d inputs\n", rounds);
}
