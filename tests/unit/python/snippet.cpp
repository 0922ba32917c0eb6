#include "tests/unit/python/snippet.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/link.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/roots/all_roots.h"
#include "tests/catch.h"

namespace dtype_guard::python {
namespace {
Project project(const std::string& text, const std::map<std::string, std::string>& others) {
  ProjectOptions options;
  options.root = "/nowhere";
  options.texts["/nowhere/m.py"] = text;
  for (const auto& [name, content] : others) options.texts["/nowhere/" + name] = content;
  return Project(std::move(options));
}

std::string indented(const std::string& text) {
  std::string out = "        ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "        ";
  }
  return out;
}
}  // namespace

LoweredFile lowered(const std::string& text, const std::map<std::string, std::string>& others) {
  return project(text, others).lower("/nowhere/m.py");
}

std::vector<std::string> findings(const std::string& text, const std::map<std::string, std::string>& others) {
  const Project all = project(text, others);
  std::vector<flow::Module> modules;
  const auto add = [&](const std::string& name) {
    LoweredFile one = all.lower("/nowhere/" + name);
    CHECK(one.errors.empty());
    CHECK(flow::print(flow::parse(flow::print(one.module))) == flow::print(one.module));
    modules.push_back(std::move(one.module));
  };
  add("m.py");
  for (const auto& [name, content] : others) add(name);
  const flow::AnalysisOptions how = default_options();
  const flow::Module linked = flow::link(std::move(modules));
  const flow::Program program(linked);
  const std::vector<std::string> out = summary(flow::analyse(program, flow::roots_to_analyse(program), how));
  // Roots that are left out have nothing to say.
  CHECK(summary(flow::analyse(program, flow::all_roots(program), how)) == out);
  return out;
}

flow::AnalysisOptions default_options() {
  flow::AnalysisOptions how;
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    if (each.by_default) how.settings.push_back(each);
  }
  how.contracts = &builtin_contracts();
  return how;
}

std::vector<std::string> summary(const flow::AnalysisResult& result) {
  std::vector<std::string> out;
  for (const Finding& each : result.findings) {
    std::vector<std::string> roles;
    for (const Sink& sink : each.sinks) roles.push_back(sink.role);
    std::sort(roles.begin(), roles.end());
    const std::string file = each.location.file == "m.py" ? "" : each.location.file + ":";
    out.push_back(fmt::format("{}{} {} {} [{}]{}", file, each.location.line, each.rule, fmt::join(roles, ","),
                              fmt::join(each.precision, " "),
                              each.certainty == Certainty::kPossible ? " possible" : ""));
  }
  return out;
}

std::string instructions(const std::string& text, const std::string& function) {
  LoweredFile all = lowered(text);
  std::erase_if(all.module.functions, [&](const flow::Function& each) { return each.name != function; });
  REQUIRE(all.module.functions.size() == 1);
  for (flow::Block& block : all.module.functions[0].blocks) {
    for (flow::Instruction& each : block.instructions) {
      each.range = {};
      each.text.clear();
      each.written = flow::Written::kOther;
    }
  }
  std::string out;
  std::istringstream lines(flow::print(all.module));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    inside = inside || line.starts_with("b0:");
    if (inside && !line.empty()) out += line.substr(line.find_first_not_of(' ')) + "\n";
  }
  return out;
}

std::string attention(const std::string& body, const std::string& constructor) {
  return "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nfrom flash_attn import "
         "flash_attn_func\n"
         "class Attention(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
         "        self.qkv = nn.Linear(dim, 3 * dim)\n" +
         indented(constructor) +
         "\n    def forward(self, x):\n        q, k, v = self.qkv(x).view(2, 8, 3, 4, 16).unbind(2)\n" +
         indented(body) + "\n        return flash_attn_func(q, k, v)\n";
}

}  // namespace dtype_guard::python
