// The code of a module as a function of its own, and what the functions of the file see of its variables.
#include <algorithm>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/python/function_lowering.h"
#include "analyzer/python/module_code.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxDepth = 60;

void names_in(const Node& node, bool is_inside, std::set<std::string, std::less<>>& used,
              std::set<std::string, std::less<>>& declared, int depth) {
  if (depth > kMaxDepth) return;
  for (const Node& each : node.children()) {
    if (is_inside && each.is("identifier")) used.emplace(each.text());
    if (is_inside && each.is("global_statement")) {
      for (const Node& name : each.children()) declared.emplace(name.text());
    }
    names_in(each, is_inside || is_definition(each), used, declared, depth + 1);
  }
}

// What a name means wherever it stands, whatever has run.
bool is_fixed(const Entity& entity) {
  if (entity.kind == Entity::Kind::kChoice)
    return std::any_of(entity.choices.begin(), entity.choices.end(), is_fixed);
  return entity.kind == Entity::Kind::kLibrary || entity.kind == Entity::Kind::kFunction ||
         entity.kind == Entity::Kind::kClass;
}
}  // namespace

bool FunctionLowering::is_module_code() const { return definition_.node.is("module"); }

// Its variables, and which of them functions of the file see.
void FunctionLowering::find_module_names() {
  const Node code = definition_.node;
  find_locals(code);
  const auto means_one_thing = [&](const std::string& each) {
    return unit_.file().global(each) && is_fixed(unit_.modules().global(unit_.file(), each));
  };
  std::erase_if(locals_, means_one_thing);
  for (const std::string& each : std::set(imported_variables_)) {
    if (!locals_.contains(each)) imported_variables_.erase(each);
  }
  ModuleNames names;
  std::set<std::string, std::less<>> used;
  names_in(code, false, used, names.declared, 0);
  locals_.insert(names.declared.begin(), names.declared.end());
  std::erase_if(locals_, means_one_thing);
  for (const std::string& each : locals_) {
    if (used.contains(each)) names.seen.insert(each);
  }
  unit_.note_module_names(std::move(names));
}

Function FunctionLowering::run_module_code() {
  function_.key = definition_.key;
  function_.name = kModuleCode;
  function_.is_main = true;
  // Below a guard it is one use of what the file is for; without, the file is that program.
  function_.external = definition_.node.text().find("__main__") == std::string_view::npos;
  const Node first = definition_.node.child(0);
  function_.range = (first ? first : definition_.node).range();
  module_variables_ = builder_.op(std::string(kGlobals) + unit_.file().scope(), {});
  block(definition_.node);
  leave_contexts(0);
  builder_.finish();
  return std::move(function_);
}

Place FunctionLowering::global_place(const std::string& name) {
  Place out;
  out.base =
      module_variables_ ? module_variables_ : builder_.op(std::string(kGlobals) + unit_.file().scope(), {});
  out.path.push_back({Place::Step::Kind::kField, name, 0});
  return out;
}

// What the module's code has made of a variable, where it runs; else what is known of it without.
ValueId FunctionLowering::seen_global(std::string_view name, const SourceFile* file, ValueId otherwise) {
  const bool is_own = file == &unit_.file() && unit_.module_names().seen.contains(name);
  if (!is_own) return otherwise;
  const ValueId object = builder_.op(std::string(kGlobals) + unit_.file().scope(), {});
  return builder_.op(
      std::string(kGlobalOf),
      {{"self", object}, {"index", builder_.constant(std::string(name))}, {"otherwise", otherwise}});
}

// A function or class that the module binds to something else as well: `model = torch.compile(model)`.
void FunctionLowering::define_in_module(const Node& node) {
  const Node inner = node.is("decorated_definition") ? node.field("definition") : node;
  const std::string name(inner.field("name").text());
  if (!locals_.contains(name)) return;
  Entity made;
  for (const auto& each : unit_.file().functions()) {
    if (each->node.begin() == inner.begin()) made.function = each.get();
  }
  for (const auto& each : unit_.file().classes()) {
    if (each->node.begin() == inner.begin()) made.class_definition = each.get();
  }
  if (made.function) made.kind = Entity::Kind::kFunction;
  if (made.class_definition) made.kind = Entity::Kind::kClass;
  made.file = &unit_.file();
  store(name, made ? entity_value(made) : builder_.unknown());
}

}  // namespace dtype_guard::python
