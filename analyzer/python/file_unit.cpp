#include "analyzer/python/file_unit.h"

#include <algorithm>
#include <string_view>

#include "analyzer/flow/settings/module_types.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::python {

const Api* FileUnit::contract(const std::string& dotted) const {
  constexpr std::string_view kNn = "torch.nn.";
  const bool is_module =
      dotted.starts_with(kNn) && flow::find_module_type("torch::nn::" + dotted.substr(kNn.size()));
  return is_module ? nullptr : contracts_.find(dotted);
}

void FileUnit::not_lowered(const std::string& function, const Node& at, std::string reason) {
  module_.not_lowered.push_back({function, std::move(reason), at.range()});
}

bool FileUnit::is_project_method(std::string_view name) const {
  return std::any_of(file_.classes().begin(), file_.classes().end(),
                     [&](const auto& each) { return each->method(name) != nullptr; });
}

namespace {
constexpr int kMaxDepth = 60;

void add_fields(const Node& node, int depth, std::set<std::string, std::less<>>& out) {
  if (depth > kMaxDepth) return;
  const Node left = node.is("assignment") ? node.field("left") : Node();
  if (left.is("attribute") && left.field("object").text() == "self")
    out.emplace(left.field("attribute").text());
  for (const Node& each : node.children()) add_fields(each, depth + 1, out);
}
}  // namespace

bool FileUnit::is_project_field(std::string_view name) {
  if (!fields_) {
    fields_.emplace();
    for (const auto& each : file_.classes()) add_fields(each->node, 0, *fields_);
  }
  return fields_->contains(name);
}

bool FileUnit::is_module(const ClassDefinition& of) {
  const auto [known, fresh] = modules_in_sight_.try_emplace(&of, false);
  if (fresh) known->second = modules_.is_module(of);
  return known->second;
}

std::string constructor_key(const ClassDefinition& of) { return "py:" + of.qualified + ".__init__"; }

namespace {
// PyTorch's, and no function of that name in the file.
bool is_setter(std::string_view callee, const SourceFile& file) {
  const std::string_view name = callee.starts_with("torch.") ? callee.substr(6) : callee;
  if (name != "set_default_dtype" && name != "set_default_tensor_type") return false;
  const Global* own = name == callee ? file.global(name) : nullptr;
  return !own || !own->function;
}

// A context manager that is a method is not followed where it is entered.
bool sets_it(const Node& node, const SourceFile& file, bool in_class, int depth) {
  if (depth > kMaxDepth) return false;
  const bool is_call = node.is("call") && is_setter(node.field("function").text(), file);
  if (is_call && !node.field("arguments").text().ends_with("float32)")) return true;
  in_class = in_class || node.is("class_definition");
  const auto all = node.children();
  return std::any_of(all.begin(), all.end(), [&](const Node& each) {
    return (in_class || !makes_context(each)) && sets_it(each, file, in_class, depth + 1);
  });
}
}  // namespace

bool FileUnit::chooses_kernels() {
  if (!chooses_kernels_) {
    const std::string& text = file_.tree().text();
    chooses_kernels_ =
        std::any_of(std::begin(kLibraryNames), std::end(kLibraryNames), [&](const LibraryName& each) {
          const std::string_view last = each.name.substr(each.name.rfind('.') + 1);
          return each.as == Named::kChoosesKernels && text.find(last) != std::string::npos;
        });
  }
  return *chooses_kernels_;
}

bool FileUnit::sets_default_dtype() {
  if (!sets_default_dtype_) {
    const bool speaks = file_.tree().text().find("set_default_") != std::string::npos;
    sets_default_dtype_ = speaks && sets_it(file_.tree().root(), file_, false, 0);
  }
  return *sets_default_dtype_;
}

}  // namespace dtype_guard::python
