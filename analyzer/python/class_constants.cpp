#include "analyzer/python/class_constants.h"

#include <algorithm>
#include <set>

#include "analyzer/python/literals.h"

namespace dtype_guard::python {
namespace {
std::set<std::string> libraries_of(const ClassDefinition& of, const Modules& modules) {
  std::set<std::string> out;
  modules.library_bases(of, out);
  return out;
}

// An integer or a text that is written out.
std::optional<flow::Constant> constant(const Node& written) {
  if (const auto number = written_integer(written)) return *number;
  if (auto text = written_text(written)) return *std::move(text);
  return std::nullopt;
}
}  // namespace

std::vector<std::string> class_constant_names(const ClassDefinition& of) {
  static const std::set<std::string_view> kinds = {"integer", "float", "string", "true", "false"};
  std::vector<std::string> out;
  for (const auto& [name, written] : of.attributes) {
    if (kinds.contains(written.kind())) out.push_back(name);
  }
  return out;
}

bool is_enumeration(const ClassDefinition& of, const Modules& modules) {
  const std::set<std::string> libraries = libraries_of(of, modules);
  return std::any_of(libraries.begin(), libraries.end(),
                     [](const std::string& each) { return each.starts_with("enum."); });
}

std::optional<flow::Constant> member_of(const ClassDefinition& of, const std::string& name,
                                        const Modules& modules) {
  const auto found = of.attributes.find(name);
  if (found == of.attributes.end() || name.starts_with('_')) return std::nullopt;
  const Node written = found->second;
  if (libraries_of(of, modules) != std::set<std::string>{"enum.Enum"}) return constant(written);
  if (of.method("__eq__")) return std::nullopt;
  // Members of one value are one member, by the first of its names.
  const auto first = std::find_if(of.attributes.begin(), of.attributes.end(), [&](const auto& each) {
    return constant(each.second) && each.second.text() == written.text();
  });
  return of.qualified + "." + (first == of.attributes.end() ? name : first->first);
}

std::optional<flow::Constant> named_member(const Node& written, const SourceFile& file,
                                           const Modules& modules) {
  const Entity entity = modules.named(file, std::string(written.field("object").text()));
  const bool is_class = entity.kind == Entity::Kind::kClass && !entity.class_definition->is_opaque;
  if (!is_class || !is_enumeration(*entity.class_definition, modules)) return std::nullopt;
  return member_of(*entity.class_definition, std::string(written.field("attribute").text()), modules);
}

}  // namespace dtype_guard::python
