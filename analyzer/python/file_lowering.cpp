#include "analyzer/python/file_lowering.h"

#include <algorithm>
#include <optional>

#include "analyzer/python/class_constants.h"
#include "analyzer/python/function_lowering.h"
#include "analyzer/python/kept_fields.h"

namespace dtype_guard::python {

using namespace flow;

Module FileLowering::run() {
  unit_.module().files.push_back(unit_.file().tree().name());
  // Which variables its code has is known before its functions are looked at.
  const std::unique_ptr<FunctionDefinition> code = module_code(unit_.file());
  std::optional<FunctionLowering> of_code;
  if (code) of_code.emplace(unit_, *code).find_module_names();
  for (const auto& each : unit_.file().functions()) lower(*each);
  for (const auto& each : unit_.file().classes()) {
    for (const auto& [name, method] : each->methods) lower(*method);
    class_attributes(*each);
    inherited_constructor(*each);
    inherited_forward(*each);
    field_constructor(*each);
    note_class(*each);
  }
  if (of_code) {
    Function lowered = of_code->run();
    if (!of_code->too_large()) unit_.add(std::move(lowered));
  }
  std::sort(unit_.module().classes.begin(), unit_.module().classes.end(),
            [](const ClassFacts& a, const ClassFacts& b) { return a.name < b.name; });
  return unit_.take();
}

Module FileLowering::only(const FunctionDefinition& definition) {
  lower(definition);
  return unit_.take();
}

Module FileLowering::facts_of(const ClassDefinition& definition) {
  class_attributes(definition);
  inherited_constructor(definition);
  inherited_forward(definition);
  field_constructor(definition);
  note_class(definition);
  return unit_.take();
}

void FileLowering::lower(const FunctionDefinition& definition) {
  if (definition.is_opaque && definition.wrappers.empty()) return;
  if (definition.node.has_error()) {
    unit_.not_lowered(definition.name, definition.node, "it has a syntax error");
    return;
  }
  FunctionLowering lowering(unit_, definition);
  Function lowered = lowering.run();
  if (lowering.too_large()) return unit_.not_lowered(definition.name, definition.node, "it is too large");
  // What it is handed is its decorators' doing.
  lowered.foreign = lowered.foreign || definition.is_opaque;
  if (definition.decorates_method()) {
    lowered.key = undecorated_key(definition);
    lowered.name += ".<undecorated>";
    lowered.external = false;
    unit_.add(FunctionLowering(unit_, definition).run_decorated());
  }
  unit_.add(std::move(lowered));
  if (definition.makes_context && !definition.owner)
    unit_.add(FunctionLowering(unit_, definition).run_entered());
}

// A dataclass takes its fields in their order, and keeps them.
void FileLowering::field_constructor(const ClassDefinition& definition) {
  if (!definition.is_dataclass || unit_.modules().method(definition, "__init__", nullptr)) return;
  Function function;
  function.key = constructor_key(definition);
  function.name = definition.name + ".__init__";
  function.class_name = definition.qualified;
  function.kind = FunctionKind::kConstructor;
  function.range = definition.node.field("name").range();
  Builder builder(function);
  const ValueId self = builder.parameter(0);
  for (const Node& each : definition.fields) {
    function.parameters.push_back(describe_field(definition, each, unit_.modules()));
    Place place;
    place.base = self;
    place.path.push_back({Place::Step::Kind::kField, function.parameters.back().name, 0});
    const auto count = static_cast<int>(function.parameters.size());
    builder.store(place, builder.parameter(count));
    if (!definition.is_named_tuple) continue;
    place.path = {{Place::Step::Kind::kCell, "", count - 1}};
    builder.store(std::move(place), builder.parameter(count));
  }
  builder.finish();
  unit_.add(std::move(function));
}

// What it gives its objects; one without any constructor in sight gets one that gives them that.
void FileLowering::class_attributes(const ClassDefinition& definition) {
  FunctionDefinition none;
  none.node = definition.node;
  none.file = definition.file;
  auto given = FunctionLowering(unit_, none).run_class_attributes(definition);
  if (!given) return;
  unit_.add(std::move(*given));
  if (unit_.modules().method(definition, "__init__", nullptr) || definition.is_dataclass) return;
  Function function;
  function.key = constructor_key(definition);
  function.name = definition.name + ".__init__";
  function.class_name = definition.qualified;
  function.of_module = unit_.is_module(definition);
  function.kind = FunctionKind::kConstructor;
  function.range = definition.node.field("name").range();
  Builder builder(function);
  builder.value(Op::kCall, class_attributes_key(definition), {{"", builder.parameter(0)}});
  builder.finish();
  unit_.add(std::move(function));
}

// A class without a constructor of its own is made by that of the first base that has one.
void FileLowering::inherited_constructor(const ClassDefinition& definition) {
  bool complete = true;
  if (const FunctionDefinition* above = unit_.modules().method(definition, "__init__", &complete)) {
    if (!definition.method("__init__")) inherit(definition, *above);
  }
}

// What an installed base does in its forward is run for a class of the project, which may be all that runs
// it.
void FileLowering::inherited_forward(const ClassDefinition& definition) {
  if (unit_.file().is_installed || !unit_.is_module(definition)) return;
  const FunctionDefinition* above = unit_.modules().method(definition, "forward", nullptr);
  if (above && above->file->is_installed) inherit(definition, *above);
}

void FileLowering::inherit(const ClassDefinition& definition, const FunctionDefinition& above) {
  if (definition.is_opaque || above.is_opaque || above.is_static || above.is_class_method) return;
  const bool constructs = above.name == "__init__";
  Function function;
  function.key = "py:" + definition.qualified + "." + above.name;
  function.name = definition.name + "." + above.name;
  function.class_name = definition.qualified;
  function.of_module = unit_.is_module(definition);
  function.kind = constructs ? FunctionKind::kConstructor : FunctionKind::kMethod;
  function.range = definition.node.field("name").range();
  Builder builder(function);
  if (constructs && has_class_attributes(definition, unit_.modules(), 0))
    builder.value(Op::kCall, class_attributes_key(definition), {{"", builder.parameter(0)}});
  const Builder::At at(builder,
                       constructs ? Builder::Position() : Builder::Position{function.range, definition.name});
  std::vector<Argument> handed = {{"", builder.parameter(0)}};
  bool first = true;
  for (const Node& each : above.node.field("parameters").children()) {
    if (each.is("keyword_separator") || each.is("positional_separator")) continue;
    if (!std::exchange(first, false)) {
      function.parameters.push_back(describe_parameter(above, each, unit_.modules()));
      describe_default(unit_, above, each, function.parameters.back());
      const Rest rest = function.parameters.back().rest;
      handed.push_back({rest == Rest::kPositional ? "*"
                        : rest == Rest::kKeywords ? "**"
                                                  : function.parameters.back().name,
                        builder.parameter(static_cast<int>(function.parameters.size()))});
    }
  }
  const ValueId result = builder.value(Op::kCall, above.key, std::move(handed));
  if (!constructs) builder.give_back(result);
  builder.finish();
  unit_.add(std::move(function));
}

void FileLowering::note_class(const ClassDefinition& definition) {
  ClassFacts facts;
  facts.name = definition.qualified;
  for (const auto& [above, library] : unit_.modules().bases(definition)) {
    if (above) {
      facts.bases.push_back(above->qualified);
    } else if (!library.starts_with("torch.nn.") && library != "object") {
      facts.bases.emplace_back(kUnknownClass);
    }
  }
  for (const std::string& each : class_attribute_names(definition, unit_.modules()))
    facts.settable.emplace_back().name = each;
  for (const std::string& each : class_constant_names(definition)) {
    const bool is_new = std::none_of(facts.settable.begin(), facts.settable.end(),
                                     [&](const Parameter& known) { return known.name == each; });
    if (is_new) facts.settable.emplace_back().name = each;
  }
  facts.placeholders = placeholders_of(definition);
  const bool known = std::any_of(unit_.module().classes.begin(), unit_.module().classes.end(),
                                 [&](const ClassFacts& each) { return each.name == facts.name; });
  if (!known) unit_.module().classes.push_back(std::move(facts));
}

}  // namespace dtype_guard::python
