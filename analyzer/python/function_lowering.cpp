#include "analyzer/python/function_lowering.h"

#include <algorithm>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/python/signatures.h"
#include "rules/text/utf8.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr std::size_t kMaxText = 120;
constexpr int kMaxBlocks = 40;

std::string folded(std::string_view text) {
  const std::string_view kept = text.substr(0, kMaxText + 1);  // and what tells whether a character is cut
  const bool is_plain =
      kept.find_first_of("\n\t\r") == std::string_view::npos && kept.find("  ") == std::string_view::npos;
  if (is_plain) return std::string(first_bytes(kept, kMaxText));
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      space = true;
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += c;
    if (out.size() > kMaxText) break;
  }
  return std::string(first_bytes(out, kMaxText));
}

std::string_view parameter_name(const Node& parameter) {
  const Node name = written_name(parameter);
  return name.is("identifier") ? name.text() : name.child(0).text();
}
}  // namespace

FunctionLowering::FunctionLowering(FileUnit& unit, const FunctionDefinition& definition,
                                   FunctionLowering* outer)
    : unit_(unit),
      definition_(definition),
      outer_(outer),
      builder_(function_),
      scopes_(outer ? outer->scopes_ + 1 : 0),
      copies_(outer ? outer->copies_ : 1),
      work_(outer ? outer->work_ : own_work_) {}

Builder::Position FunctionLowering::position(const Node& node) const {
  static const ByKind<bool> castable = {
      {"call", true},      {"identifier", true},      {"attribute", true},
      {"subscript", true}, {"binary_operator", true}, {"parenthesized_expression", true}};
  return {node.range(), folded(node.text()), castable[node] ? Written::kTensor : Written::kOther};
}

// What the function is, and where.
void FunctionLowering::head() {
  function_.key = definition_.key;
  const bool nested = outer_ != nullptr;
  const bool method = definition_.owner && !definition_.is_static && !definition_.is_class_method;
  // As co_qualname has it, which is what a run tells.
  function_.name = definition_.owner ? definition_.owner->name + "." + definition_.name
                   : nested          ? outer_->function_.name + ".<locals>." + definition_.name
                                     : definition_.name;
  function_.kind = nested ? FunctionKind::kLambda : method ? FunctionKind::kMethod : FunctionKind::kFunction;
  if (method && definition_.name == "__init__") function_.kind = FunctionKind::kConstructor;
  if (definition_.owner) {
    function_.class_name = definition_.owner->qualified;
    function_.of_module = unit_.is_module(*definition_.owner);
  }
  const bool is_private = definition_.name.starts_with('_') && !definition_.name.starts_with("__");
  function_.external = !nested && !is_private && !definition_.is_property;
  const Node name = definition_.node.field("name");
  function_.range = (name ? name : definition_.node).range();
}

// A generator of the file that makes a context in which the default dtype is another.
static bool has_default_dtypes(const SourceFile& file) {
  return std::any_of(file.functions().begin(), file.functions().end(), [](const auto& each) {
    return each->makes_context && each->node.text().find("set_default_") != std::string_view::npos;
  });
}

Function FunctionLowering::run() {
  if (is_module_code()) return run_module_code();
  head();
  const Node code = definition_.node.field("body");
  find_locals(code);
  numbers_ = numbers_of(definition_, unit_.modules());
  parameters();
  // An object may be made in such a context and handed in; what runs in one is seen there.
  const bool makes = function_.kind == FunctionKind::kConstructor && has_default_dtypes(unit_.file());
  if (!outer_ && (makes || unit_.sets_default_dtype())) builder_.op(std::string(kOpenDefaultDtype), {});
  if (!outer_ && unit_.chooses_kernels()) builder_.op(std::string(kChosenKernels), {});
  if (function_.kind == FunctionKind::kConstructor) take_class_attributes(*definition_.owner, self_);
  begin_generator();
  enter_decorators();
  body(code);
  builder_.finish();
  return std::move(function_);
}

void FunctionLowering::body(const Node& code) {
  if (!definition_.node.is("lambda")) {
    block(code);
    leave_contexts(0);
    if (is_generator_ && builder_.open()) builder_.give_back(yielded());
    return;
  }
  builder_.give_back(value(code));
}

void FunctionLowering::parameters() {
  int position_in_call = 0;
  const bool nested = outer_ != nullptr;
  const bool bound = definition_.owner && !definition_.is_static;
  if (nested) self_ = builder_.parameter(position_in_call++);
  bool first = bound;
  for (const Node& each : definition_.node.field("parameters").children()) {
    if (each.is("keyword_separator") || each.is("positional_separator")) continue;
    const std::string name(parameter_name(each));
    locals_.insert(name);
    parameters_.insert(name);
    assigned_[name].emplace_back();
    const Builder::At at(builder_, position(each));
    if (first) {
      first = false;
      if (!definition_.is_class_method) {
        self_name_ = name;
        self_ = builder_.parameter(position_in_call++);
        store(name, self_);
        continue;
      }
      class_parameter_ = name;
    }
    function_.parameters.push_back(describe_parameter(definition_, each, unit_.modules()));
    describe_module(definition_, each, unit_.modules(), function_.parameters.back());
    if (!nested) describe_default(unit_, definition_, each, function_.parameters.back());
    store(name, number_parameter(function_.parameters.back(), builder_.parameter(position_in_call++)));
  }
}

// What a caller computes from a configuration is a number where the body, or its annotation, says that it is
// one. A default is no promise: what has 1.0 may be handed a tensor.
ValueId FunctionLowering::number_parameter(const flow::Parameter& parameter, ValueId given) {
  if (parameter.rest != flow::Rest::kNone) return given;
  const bool is_annotated = parameter.kind == flow::ParameterKind::kNumber && !parameter.default_value;
  const bool is_size = numbers_.contains(parameter.name);
  if (!is_annotated && !is_size) return given;
  const std::string type = is_size || parameter.type.empty() ? "int" : parameter.type;
  return builder_.op("number::" + type, {{"self", given}});
}

// Names that are assigned somewhere in the function are its own, wherever they are used.
void FunctionLowering::find_locals(const Node& node, int depth) {
  if (depth > kMaxBlocks) return;
  const auto add = [&](const Node& target, const Node& source) {
    std::vector<Node> work = {target};
    while (!work.empty()) {
      const Node each = work.back();
      work.pop_back();
      if (each.is("identifier")) {
        locals_.insert(std::string(each.text()));
        assigned_[std::string(each.text())].push_back(each.text() == target.text() ? source : Node());
      } else if (each.is("pattern_list") || each.is("tuple_pattern") || each.is("list_pattern") ||
                 each.is("list_splat_pattern") || each.is("tuple") || each.is("as_pattern_target")) {
        for (const Node& below : each.children()) work.push_back(below);
      }
    }
  };
  for (const Node& each : node.children()) {
    const std::string_view kind = each.kind();
    if (kind == "assignment" || kind == "named_expression") {
      const Node left = each.field(kind == "assignment" ? "left" : "name");
      add(left, each.field(kind == "assignment" ? "right" : "value"));
    } else if (kind == "augmented_assignment") {
      add(each.field("left"), Node());
    } else if (kind == "for_statement" || kind == "for_in_clause") {
      add(each.field("left"), Node());
    } else if (kind == "as_pattern") {
      add(each.field("alias"), Node());
    } else if (kind == "import_statement" || kind == "import_from_statement") {
      for (const auto& [name, what] : unit_.file().imports(each)) note_import(name, what);
    } else if (kind == "case_pattern") {
      add_captures(each);
    } else if (kind == "function_definition" || kind == "class_definition") {
      if (is_module_code()) continue;  // it is known by its name
      locals_.insert(std::string(each.field("name").text()));
      assigned_[std::string(each.field("name").text())].emplace_back();
      continue;
    } else if (kind == "global_statement" || kind == "nonlocal_statement") {
      std::set<std::string>& names = kind == "global_statement" ? globals_ : nonlocals_;
      for (const Node& name : each.children()) names.insert(std::string(name.text()));
    } else if (kind == "lambda") {
      continue;
    } else if (kind == "attribute") {
      names_before_dots_.insert(std::string(each.field("object").text()));
    }
    find_locals(each, depth + 1);
  }
  if (depth == 0) {
    for (const std::set<std::string>* names : {&globals_, &nonlocals_}) {
      for (const std::string& each : *names) locals_.erase(each);
    }
    find_imported_variables();
  }
}

void FunctionLowering::note_import(const std::string& name, const std::string& what) {
  const auto [known, is_new] = local_imports_.try_emplace(name, what);
  if (!is_new && known->second != what) imported_variables_.insert(name);
  known->second = what;
}

// What branches import from several places, or assign as well, is what the branch that ran made it. Not so a
// module, what stands before a dot: as a value nothing would be known of it, so its last import counts.
void FunctionLowering::find_imported_variables() {
  for (const auto& [name, what] : local_imports_) {
    if (locals_.contains(name)) imported_variables_.insert(name);
  }
  std::erase_if(imported_variables_, [&](const std::string& each) {
    return globals_.contains(each) || names_before_dots_.contains(each);
  });
  for (const std::string& each : imported_variables_) {
    locals_.insert(each);
    assigned_[each].emplace_back();
  }
}

void FunctionLowering::import_statement(const Node& node) {
  for (const auto& [name, what] : unit_.file().imports(node)) {
    if (imported_variables_.contains(name))
      store(name, entity_value(unit_.modules().dotted(unit_.file(), what)));
  }
}

// The names that the patterns of a case bind.
void FunctionLowering::add_captures(const Node& pattern) {
  std::vector<Node> work = {pattern};
  while (!work.empty()) {
    const Node each = work.back();
    work.pop_back();
    if (each.is("identifier")) {
      locals_.insert(std::string(each.text()));
      assigned_[std::string(each.text())].emplace_back();
    }
    const bool keyword = each.is("keyword_pattern") || each.is("class_pattern");  // of a field or class
    const bool is_value = each.is("dotted_name") && each.child(1);
    bool first = true;
    for (const Node& below : each.children()) {
      if (!is_value && !(std::exchange(first, false) && keyword)) work.push_back(below);
    }
  }
}

bool FunctionLowering::knows(const std::string& name) const {
  if (global_file_) return false;
  return locals_.contains(name) || (outer_ && outer_->knows(name));
}

// Whether it is what a function around was handed, there and in all functions within: a closure holds the
// value, which outlives the call, as in `self.act = lambda x: act(x) * scale`.
bool FunctionLowering::is_handed(const std::string& name) {
  FunctionLowering* scope = this;
  while (scope && !scope->locals_.contains(name)) scope = scope->outer_;
  if (!scope || !scope->parameters_.contains(name)) return false;
  const auto assigned = scope->assigned_.find(name);
  if (assigned == scope->assigned_.end() || assigned->second.size() != 1) return false;
  std::optional<bool>& rebinds = scope->has_nonlocal_;
  if (!rebinds) rebinds = scope->definition_.node.text().find("nonlocal") != std::string_view::npos;
  return !*rebinds;
}

FunctionLowering::Arguments FunctionLowering::captures(const FunctionLowering& inner) {
  Arguments out;
  for (const std::string& each : inner.captured_)
    out.push_back({each, is_handed(each) ? load(each) : builder_.address(variable(each))});
  return out;
}

// A name of an enclosing function is read through what the closure holds: its address, unless it stays as it
// is.
Place FunctionLowering::variable(const std::string& name) {
  if (is_module_code() && unit_.module_names().seen.contains(name)) return global_place(name);
  Place place;
  if (locals_.contains(name) || !outer_ || !outer_->knows(name)) {
    const auto [found, fresh] = variables_.try_emplace(name, 0);
    if (fresh) found->second = builder_.variable(name);
    place.variable = found->second;
    return place;
  }
  captured_.insert(name);
  Place held;
  held.base = self_;
  held.path.push_back({Place::Step::Kind::kField, name, 0});
  if (is_handed(name)) return held;
  place.base = builder_.load(std::move(held));
  return place;
}

ValueId FunctionLowering::load(const std::string& name) {
  if (name == self_name_ && assigned_[name].size() == 1) return self_;
  return builder_.load(variable(name));
}
void FunctionLowering::store(const std::string& name, ValueId value) {
  builder_.store(variable(name), value);
}

void FunctionLowering::in_own_scope(const std::vector<std::string>& names,
                                    const std::function<void()>& within) {
  std::vector<std::string> fresh;
  for (const std::string& each : names) {
    if (locals_.insert(each).second) fresh.push_back(each);
  }
  std::map<std::string, VariableId> hidden = variables_;
  for (const std::string& each : names) variables_.erase(each);
  within();
  for (const std::string& each : names) {
    variables_.erase(each);
    if (hidden.contains(each)) variables_[each] = hidden[each];
  }
  for (const std::string& each : fresh) locals_.erase(each);
}

}  // namespace dtype_guard::python
