// Reads, parses and lowers Python files in one thread, without the engine, and says what that took: the names
// of the files come on standard input, one a line; the first argument is the root of the project.
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/python/front_end.h"
#include "analyzer/python/syntax.h"

using namespace dtype_guard;

namespace {
// What this thread took of the processor: what else the machine does does not count.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}
}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: bench_lower_python ROOT <LIST\n";
    return 2;
  }
  std::vector<std::string> files;
  for (std::string line; std::getline(std::cin, line);) files.push_back(line);
  double parsing = 0;
  for (const std::string& each : files) {
    std::ifstream in(each, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    const double before = seconds();
    const python::Tree tree(std::move(text), each, 60);
    parsing += seconds() - before;
  }
  python::ProjectOptions options;
  options.root = arguments[1];
  const double before = seconds();
  const python::Project project(std::move(options));
  std::size_t functions = 0, instructions = 0;
  for (const std::string& each : files) {
    const python::LoweredFile lowered = project.lower(each);
    functions += lowered.module.functions.size();
    for (const flow::Function& function : lowered.module.functions) {
      for (const flow::Block& block : function.blocks) instructions += block.instructions.size();
    }
  }
  fmt::print(
      "{{\"parse\": {:.4f}, \"parse_and_lower\": {:.4f}, \"functions\": {}, \"instructions\": {}, "
      "\"peak_kb\": {}}}\n",
      parsing, seconds() - before, functions, instructions, peak_kilobytes());
}
