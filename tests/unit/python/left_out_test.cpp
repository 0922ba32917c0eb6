// What is left out because it comes to nothing must not be missed: with and without it the findings are the
// same. `findings` compares that for each snippet; here it does so for the cases of tests/golden/python.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "analyzer/flow/program/link.h"
#include "analyzer/flow/program/program.h"
#include "tests/catch.h"
#include "tests/unit/python/snippet.h"

namespace dtype_guard::python {
namespace {
// Both twins of a case are in its file; lines keep their numbers.
std::string wrong_twin(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string out;
  for (std::string line; std::getline(file, line);) out += (has(line, "#! ok") ? "" : line) + "\n";
  return out;
}

// Roots by name, and which of them are evaluated.
bool is_evaluated(const std::string& text, const std::string& root) {
  std::vector<flow::Module> modules;
  modules.push_back(lowered(text).module);
  const flow::Module linked = flow::link(std::move(modules));
  const flow::Program program(linked);
  const std::vector<std::uint32_t> roots = flow::roots_to_analyse(program);
  return std::any_of(roots.begin(), roots.end(),
                     [&](std::uint32_t each) { return linked.functions[each].name == root; });
}
}  // namespace

TEST_CASE("what is left out has no findings in any of the cases") {
  std::size_t count = 0;
  for (const char* const folder : {"bugs", "constructs"}) {
    const std::filesystem::path cases = std::filesystem::path(DTYPE_GUARD_PYTHON_CASES) / folder;
    for (const auto& each : std::filesystem::directory_iterator(cases)) {
      INFO(each.path().string());
      count += findings(wrong_twin(each.path())).size();
    }
  }
  CHECK(count > 80);
}

TEST_CASE("what is called of a name that other code defines comes to nothing") {
  const std::string imports = "\nfrom elsewhere import pair\n";
  const std::string calls = "def sizes(n):\n    return pair(n)\n";
  const std::string held = "def sizes(n):\n    made = n\n    return made(n)\n";
  CHECK(!is_evaluated(attention("") + imports + calls, "sizes"));
  CHECK(is_evaluated(attention("") + held, "sizes"));
}

TEST_CASE("a method of the object itself is one that its class or an heir may have") {
  const std::string part =
      "\nclass Part:\n    def run(self, x):\n        return self.step(x)\n    def step(self, x):\n"
      "        return x\n";
  const auto other = [](const std::string& bases) {
    return attention("") + "    def step(self, x):\n        return self.forward(x)\n" + "class Other" +
           bases + ":\n    def step(self, x):\n        return flash_attn_func(x, x, x)\n";
  };
  CHECK(!is_evaluated(part + other(""), "Part.run"));
  CHECK(is_evaluated(part + other("(Part)"), "Part.run"));
  CHECK(is_evaluated(part + other("") + "class Both(Other, Part):\n    pass\n", "Part.run"));
}

}  // namespace dtype_guard::python
