#include "tests/unit/clang/snippet.h"

#include <sstream>

#include "analyzer/flow/ir/text.h"

namespace dtype_guard::clang_front_end {

LoweredSource lower_snippet(const std::string& code, const std::vector<std::string>& flags) {
  CompileCommand command{"/", "/project/code.cpp", {"c++", "-std=c++17", "-include", DTYPE_GUARD_MINI_TORCH}};
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  LoweringOptions options;
  options.user_code = UserCode("/project", {});
  options.files["/project/code.cpp"] = code;
  return lower(command, options);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string without_positions(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find(" ; ")) + "\n";
  return out;
}

std::string body_with_positions(const LoweredSource& source, const std::string& name) {
  for (const flow::Function& each : source.module.functions) {
    if (each.name == name) return flow::print(each, source.module);
  }
  std::string problem = "no function '" + name + "'";
  for (const SourceError& error : source.errors)
    problem += "\n" + std::to_string(error.line) + ": " + error.message;
  for (const flow::Function& each : source.module.functions) problem += "\nthere is " + each.name;
  return problem;
}

std::string body(const std::string& code, const std::string& name) {
  const std::string text = body_with_positions(lower_snippet(code), name);
  const std::size_t start = text.find("b0:\n");
  return start == std::string::npos ? text : without_positions(text.substr(start + 4));
}

}  // namespace dtype_guard::clang_front_end
