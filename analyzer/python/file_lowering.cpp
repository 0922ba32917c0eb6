#include "analyzer/python/file_lowering.h"

#include <algorithm>

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

Module FileLowering::run() {
  module_.files.push_back(file_.tree().name());
  for (const auto& each : file_.functions()) lower(*each);
  for (const auto& each : file_.classes()) {
    for (const auto& [name, method] : each->methods) lower(*method);
    inherited_constructor(*each);
    field_constructor(*each);
    note_class(*each);
  }
  std::sort(module_.classes.begin(), module_.classes.end(),
            [](const ClassFacts& a, const ClassFacts& b) { return a.name < b.name; });
  return std::move(module_);
}

void FileLowering::not_lowered(const std::string& function, const Node& at, std::string reason) {
  module_.not_lowered.push_back({function, std::move(reason), at.range()});
}

void FileLowering::lower(const FunctionDefinition& definition) {
  if (definition.is_opaque) return;
  if (definition.node.has_error()) {
    not_lowered(definition.name, definition.node, "it has a syntax error");
    return;
  }
  FunctionLowering lowering(*this, definition);
  Function lowered = lowering.run();
  if (lowering.too_large()) return not_lowered(definition.name, definition.node, "it is too large");
  add(std::move(lowered));
}

bool FileLowering::is_project_method(const std::string& name) const {
  return std::any_of(file_.classes().begin(), file_.classes().end(),
                     [&](const auto& each) { return each->method(name) != nullptr; });
}

std::string constructor_key(const ClassDefinition& of) { return "py:" + of.qualified + ".__init__"; }

// A dataclass takes its fields in their order, and keeps them.
void FileLowering::field_constructor(const ClassDefinition& definition) {
  if (!definition.is_dataclass || modules_.method(definition, "__init__", nullptr)) return;
  Function function;
  function.key = constructor_key(definition);
  function.name = definition.name + ".__init__";
  function.class_name = definition.qualified;
  function.kind = FunctionKind::kConstructor;
  function.range = definition.node.field("name").range();
  Builder builder(function);
  const ValueId self = builder.parameter(0);
  for (const Node& each : definition.fields) {
    function.parameters.push_back(describe_field(definition, each, modules_));
    Place place;
    place.base = self;
    place.path.push_back({Place::Step::Kind::kField, function.parameters.back().name, 0});
    builder.store(std::move(place), builder.parameter(static_cast<int>(function.parameters.size())));
  }
  builder.finish();
  add(std::move(function));
}

// A class without a constructor of its own is made by that of the first base that has one.
void FileLowering::inherited_constructor(const ClassDefinition& definition) {
  if (definition.method("__init__") || definition.is_opaque) return;
  bool complete = true;
  const FunctionDefinition* above = modules_.method(definition, "__init__", &complete);
  if (!above || above->is_opaque) return;
  Function function;
  function.key = constructor_key(definition);
  function.name = definition.name + ".__init__";
  function.class_name = definition.qualified;
  function.of_module = modules_.is_module(definition);
  function.kind = FunctionKind::kConstructor;
  function.range = definition.node.field("name").range();
  Builder builder(function);
  std::vector<Argument> handed = {{"", builder.parameter(0)}};
  bool first = true;
  for (const Node& each : above->node.field("parameters").children()) {
    if (each.is("keyword_separator") || each.is("positional_separator")) continue;
    if (!std::exchange(first, false)) {
      function.parameters.push_back(describe_parameter(*above, each, modules_));
      const Rest rest = function.parameters.back().rest;
      handed.push_back({rest == Rest::kPositional ? "*"
                        : rest == Rest::kKeywords ? "**"
                                                  : function.parameters.back().name,
                        builder.parameter(static_cast<int>(function.parameters.size()))});
    }
  }
  builder.value(Op::kCall, above->key, std::move(handed));
  builder.finish();
  add(std::move(function));
}

void FileLowering::note_class(const ClassDefinition& definition) {
  ClassFacts facts;
  facts.name = definition.qualified;
  for (const Node& each : definition.bases) {
    std::string library;
    if (const ClassDefinition* above = modules_.base(definition, each, &library)) {
      facts.bases.push_back(above->qualified);
    } else if (!library.starts_with("torch.nn.") && library != "object") {
      facts.bases.emplace_back(kUnknownClass);
    }
  }
  const bool known = std::any_of(module_.classes.begin(), module_.classes.end(),
                                 [&](const ClassFacts& each) { return each.name == facts.name; });
  if (!known) module_.classes.push_back(std::move(facts));
}

}  // namespace dtype_guard::python
