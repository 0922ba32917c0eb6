#include "analyzer/python/imports_by_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace dtype_guard::python {
namespace {

// Repositories of the package `kernels`, of any owner, and the modules whose functions they have.
struct HubKernel {
  std::string_view repository, module;
};
constexpr HubKernel kHubKernels[] = {
    {"flash-attn", "flash_attn"},
    {"flash-attn2", "flash_attn"},
    {"flash-attn3", "flash_attn_interface"},
    {"vllm-flash-attn3", "flash_attn_interface"},
};

std::string of_hub(std::string_view repository) {
  const std::string_view name = repository.substr(repository.rfind('/') + 1);
  for (const HubKernel& each : kHubKernels)
    if (each.repository == name) return std::string(each.module);
  return "";
}

// A literal, or a global of the file that is one.
std::string_view text_of(const SourceFile& file, Node node) {
  if (const Global* known = node.is("identifier") ? file.global(node.text()) : nullptr)
    node = known->rebound ? Node() : known->value;
  const std::string_view text = node && node.is("string") ? node.text() : std::string_view();
  return text.size() < 3 ? std::string_view() : text.substr(1, text.size() - 2);
}

}  // namespace

std::string imported_by_call(const SourceFile& file, const Node& call) {
  if (!call || !call.is("call")) return "";
  const std::string_view callee = call.field("function").text();
  const std::string_view last = callee.substr(callee.rfind('.') + 1);
  const Node first = call.field("arguments").child(0);
  const std::string_view named = first ? text_of(file, first) : std::string_view();
  if (named.empty()) return "";
  if (last == "get_kernel") return of_hub(named);
  const bool imports =
      last.find("import") != std::string_view::npos || last.find("Import") != std::string_view::npos;
  const bool is_name = std::all_of(named.begin(), named.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  return imports && is_name && named.front() != '.' ? std::string(named) : "";
}

}  // namespace dtype_guard::python
