#include "tests/fuzz/python_target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "analyzer/flow/ir/text.h"
#include "analyzer/python/front_end.h"

namespace dtype_guard::python {
namespace {
void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void hold(const LoweredFile& lowered, int lines) {
  for (const SourceError& each : lowered.errors) {
    demand(!each.message.empty(), "an error says what is wrong");
    demand(each.line >= 0 && each.line <= lines + 1, "an error stands in the file");
  }
  for (const flow::Function& function : lowered.module.functions) {
    for (const flow::Block& block : function.blocks) {
      demand(!block.instructions.empty(), "a block ends");
      for (const flow::Instruction& each : block.instructions)
        demand(each.range.line >= 0 && each.range.end_line <= lines + 1, "an instruction stands in the file");
    }
  }
  const std::string printed = flow::print(lowered.module);
  demand(flow::print(flow::parse(printed)) == printed, "the IR prints and parses");
}
}  // namespace

void fuzz_python(std::string_view input) {
  ProjectOptions options;
  options.root = "/nowhere";
  options.seconds = 10;
  options.packages = {"/nowhere/env/site-packages"};
  // The same text as a file, as what another one imports, and as an installed package.
  options.texts["/nowhere/m.py"] = input;
  options.texts["/nowhere/env/site-packages/n/__init__.py"] = input;
  options.texts["/nowhere/user.py"] =
      "from m import *\nimport m\nimport n\nfrom n import Base, f\nclass Own(Base):\n    def g(self, x):\n"
      "        return f(n.f(x), m.f(self.forward(x)))\n";
  try {
    const Project project(options);
    const int lines = static_cast<int>(std::count(input.begin(), input.end(), '\n')) + 1;
    hold(project.lower("/nowhere/m.py"), lines);
    hold(project.lower("/nowhere/user.py"), std::max(lines, 8));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    demand(false, "the front end throws nothing");
  }
}

}  // namespace dtype_guard::python

#ifdef FUZZ_PYTHON_WITH_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  dtype_guard::python::fuzz_python({reinterpret_cast<const char*>(data), size});
  return 0;
}
#endif
