#include "analyzer/python/names.h"

#include <algorithm>
#include <set>

namespace dtype_guard::python {
namespace {

// The text of a dotted name, white space and comments left out.
std::string dotted(const Node& node) {
  std::string out;
  for (const char c : node.text()) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\\') out += c;
  }
  return out;
}

std::string scope_of(std::string report_name) {
  if (report_name.ends_with(".py")) report_name.resize(report_name.size() - 3);
  std::replace(report_name.begin(), report_name.end(), '/', '.');
  return report_name;
}

std::string decorator_name(const Node& decorator) {
  Node what = decorator.child(0);
  while (what.is("call")) what = what.field("function");
  return dotted(what);
}
}  // namespace

bool makes_context(const Node& definition) {
  if (!definition.is("decorated_definition")) return false;
  const auto all = definition.children();
  return std::any_of(all.begin(), all.end(), [](const Node& each) {
    const std::string name = each.is("decorator") ? decorator_name(each) : "";
    return name == "contextmanager" || name.ends_with(".contextmanager");
  });
}

const FunctionDefinition* ClassDefinition::method(std::string_view method_name) const {
  const auto found = methods.find(method_name);
  return found == methods.end() ? nullptr : found->second.get();
}

SourceFile::SourceFile(std::string path, std::string report_name, std::string module, bool is_package,
                       std::string text, int seconds)
    : path_(std::move(path)),
      module_(std::move(module)),
      scope_(scope_of(report_name)),
      is_package_(is_package),
      tree_(std::move(text), std::move(report_name), seconds) {
  if (!tree_.root()) return;
  index(tree_.root(), Where::kTop);
  if (tree_.text().find("global ") != std::string::npos) bind_in_functions(tree_.root(), 0);
}

const Global* SourceFile::global(std::string_view name) const {
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second;
}

std::string SourceFile::absolute(std::string_view module) const {
  std::size_t dots = 0;
  while (dots < module.size() && module[dots] == '.') ++dots;
  if (dots == 0) return std::string(module);
  std::string package = module_;
  for (std::size_t up = is_package_ ? 1 : 0; up < dots; ++up) {
    const std::size_t dot = package.rfind('.');
    package = dot == std::string::npos ? "" : package.substr(0, dot);
  }
  const std::string rest(module.substr(dots));
  return package.empty() || rest.empty() ? package + rest : package + "." + rest;
}

std::vector<std::pair<std::string, std::string>> SourceFile::imports(const Node& statement) const {
  std::vector<std::pair<std::string, std::string>> out;
  const bool from = statement.is("import_from_statement");
  const std::string module = from ? absolute(dotted(statement.field("module_name"))) : "";
  for (const Node& each : statement.children("name")) {
    const bool renamed = each.is("aliased_import");
    const std::string name = dotted(renamed ? each.field("name") : each);
    const std::string whole = from ? (module.empty() ? name : module + "." + name) : name;
    if (renamed) {
      out.emplace_back(dotted(each.field("alias")), whole);
    } else if (from) {
      out.emplace_back(name, whole);
    } else {
      const std::string first = name.substr(0, name.find('.'));  // `import a.b` binds a
      out.emplace_back(first, first);
    }
  }
  return out;
}

std::unique_ptr<FunctionDefinition> SourceFile::define(const Node& node, const std::string& prefix,
                                                       const ClassDefinition* owner) const {
  auto out = std::make_unique<FunctionDefinition>();
  out->node = node.is("decorated_definition") ? node.field("definition") : node;
  if (node.is("decorated_definition")) {
    for (const Node& each : node.children()) {
      if (each.is("decorator")) out->decorators.push_back(each);
    }
  }
  out->name = out->node.is("lambda") ? "<lambda>" : std::string(out->node.field("name").text());
  // `@size.setter def size(self, n)` stands beside what `size` gives.
  for (const Node& each : owner ? out->decorators : std::vector<Node>()) {
    const std::string name = decorator_name(each);
    for (const std::string_view part : {kSetter, kDeleter}) {
      if (name == out->name + std::string(part)) out->name = name;
    }
  }
  out->makes_context = makes_context(node);
  out->file = this;
  out->owner = owner;
  out->key = "py:" + prefix + "." + out->name + "@" + std::to_string(out->node.range().line) + ":" +
             std::to_string(out->node.range().column);
  bool known = true;
  for (const Node& each : out->decorators) {
    const std::string name = decorator_name(each);
    out->is_static = out->is_static || name == "staticmethod";
    out->is_class_method = out->is_class_method || name == "classmethod";
    out->is_property = out->is_property || name == "property" || name.ends_with("cached_property");
    if (is_transparent(name)) continue;
    out->is_opaque = true;
    const Global* local = global(name);
    known = known && local && local->function && !local->rebound;
    out->wrappers.push_back(each);
  }
  // What a class makes of a method by another decorator is no function of the object.
  const bool of_object =
      owner && !out->is_static && !out->is_class_method && !out->is_property && !out->name.starts_with("__");
  if (!known || (owner && !of_object)) out->wrappers.clear();
  if (out->decorates_method()) out->is_opaque = false;
  return out;
}

void SourceFile::add_class(const Node& node, const std::vector<Node>& decorators, Where where) {
  auto made = std::make_unique<ClassDefinition>();
  made->node = node;
  made->name = std::string(node.field("name").text());
  made->qualified = scope_ + "." + made->name;
  made->file = this;
  for (const Node& each : node.field("superclasses").children()) {
    if (each.is("keyword_argument")) {
      made->is_opaque = true;
    } else {
      made->bases.push_back(each);
      made->is_named_tuple = made->is_named_tuple || dotted(each).ends_with("NamedTuple");
      made->is_dataclass = made->is_dataclass || made->is_named_tuple;
    }
  }
  for (const Node& each : decorators) {
    const std::string name = decorator_name(each);
    made->is_dataclass = made->is_dataclass || name == "dataclass" || name.ends_with(".dataclass");
  }
  for (const Node& each : node.field("body").children()) {
    const bool decorated = each.is("decorated_definition");
    const Node inner = decorated ? each.field("definition") : each;
    if (inner.is("function_definition")) {
      auto method = define(each, made->qualified, made.get());
      const std::string name = method->name;
      made->methods[name] = std::move(method);  // the last one counts
    } else if (each.is("expression_statement") && each.child(0).is("assignment")) {
      const Node assignment = each.child(0);
      if (!assignment.field("left").is("identifier")) continue;
      if (assignment.field("type")) made->fields.push_back(assignment);
      if (assignment.field("right"))
        made->attributes[std::string(assignment.field("left").text())] = assignment.field("right");
    }
  }
  Global& global = globals_[made->name];
  global.rebound = global.rebound || global.class_definition || global.value || global.function;
  global.class_definition = made.get();
  note(global, {"", nullptr, made.get(), Node()}, where);
  classes_.push_back(std::move(made));
}

// attend = torch.compile(attend), torch.compiler.disable(attend): what it was.
bool SourceFile::is_wrapped(const Node& target, const Node& value) const {
  const Node first = value.is("call") ? value.field("arguments").child(0) : Node();
  if (!first.is("identifier") || first.text() != target.text()) return false;
  const std::string callee = dotted(value.field("function"));
  return callee.starts_with("torch.") && is_transparent(callee);
}

// A name that one import of several in try blocks binds is optional; None beside it is what there is without.
void SourceFile::bind(const Node& target, const Node& value, Where where) {
  if (target.is("pattern_list") || target.is("tuple_pattern") || target.is("list_pattern")) {
    const std::vector<Node> targets = target.children();
    const bool listed = value.is("expression_list") || value.is("tuple") || value.is("list");
    const std::vector<Node> values = listed ? value.children() : std::vector<Node>();
    const bool each_has_one = values.size() == targets.size();
    for (std::size_t i = 0; i < targets.size(); ++i)
      bind(targets[i], each_has_one ? values[i] : Node(), each_has_one ? where : Where::kOther);
    return;
  }
  if (!target.is("identifier") || is_wrapped(target, value)) return;
  Global& global = globals_[std::string(target.text())];
  if (value.is("none")) {
    global.optional = true;
    if (!global.value && global.imported.empty()) global.value = value;
    return;
  }
  const bool known = !global.imported.empty() || global.function || global.class_definition;
  global.rebound =
      global.rebound || where == Where::kOther || (global.value && !global.value.is("none")) || known;
  global.value = value;
  note(global, {"", nullptr, nullptr, value}, where);
}

void SourceFile::index(const Node& block, Where where) {
  for (const Node& each : block.children()) {
    const std::string_view kind = each.kind();
    if (kind == "import_statement" || kind == "import_from_statement") {
      for (const auto& [name, what] : imports(each)) {
        Global& global = globals_[name];
        const bool first = global.imported.empty();
        // Of two imports in a try block and its handler the first is the one that is meant.
        if (first || where == Where::kTop) global.imported = what;
        note(global, {what, nullptr, nullptr, Node()}, where);
        global.optional = global.optional || (first && where != Where::kTop);
      }
      for (const Node& star : each.children()) {
        if (star.is("wildcard_import")) star_imports_.push_back(absolute(dotted(each.field("module_name"))));
      }
    } else if (kind == "function_definition" || kind == "decorated_definition" ||
               kind == "class_definition") {
      const Node inner = kind == "decorated_definition" ? each.field("definition") : each;
      if (inner.is("class_definition")) {
        std::vector<Node> decorators;
        for (const Node& part : each.children()) {
          if (part.is("decorator")) decorators.push_back(part);
        }
        add_class(inner, decorators, where);
        continue;
      }
      auto made = define(each, scope_, nullptr);
      Global& global = globals_[made->name];
      if (global.imported.empty()) {
        global.rebound = global.rebound || global.function || (global.value && !global.value.is("none"));
        global.function = made.get();
      }
      note(global, {"", made.get(), nullptr, Node()}, where);
      functions_.push_back(std::move(made));
    } else if (kind == "expression_statement") {
      const Node inner = each.child(0);
      if (inner.is("assignment") && inner.field("right")) {  // a = b = None
        Node value = inner.field("right");
        std::vector<Node> targets = {inner.field("left")};
        for (; value.is("assignment"); value = value.field("right")) targets.push_back(value.field("left"));
        for (const Node& target : targets) bind(target, value, where);
      }
      if (inner.is("augmented_assignment")) bind(inner.field("left"), Node(), Where::kOther);
    } else if (kind == "try_statement" || kind == "if_statement" || kind == "with_statement" ||
               kind == "for_statement" || kind == "while_statement") {
      const Where inside = kind == "try_statement" || kind == "if_statement" ? Where::kTry : Where::kOther;
      for (const Node& part : each.children()) {
        if (part.is("block")) index(part, inside);
        for (const Node& below : part.children()) {
          const bool clause = part.kind().ends_with("_clause");
          if (clause && below.is("block")) index(below, inside);
        }
      }
    }
  }
}

}  // namespace dtype_guard::python
