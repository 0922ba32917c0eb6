#include "analyzer/python/file_unit.h"

#include <algorithm>

namespace dtype_guard::python {

void FileUnit::not_lowered(const std::string& function, const Node& at, std::string reason) {
  module_.not_lowered.push_back({function, std::move(reason), at.range()});
}

bool FileUnit::is_project_method(std::string_view name) const {
  return std::any_of(file_.classes().begin(), file_.classes().end(),
                     [&](const auto& each) { return each->method(name) != nullptr; });
}

bool FileUnit::is_module(const ClassDefinition& of) {
  const auto [known, fresh] = modules_in_sight_.try_emplace(&of, false);
  if (fresh) known->second = modules_.is_module(of);
  return known->second;
}

std::string constructor_key(const ClassDefinition& of) { return "py:" + of.qualified + ".__init__"; }

}  // namespace dtype_guard::python
