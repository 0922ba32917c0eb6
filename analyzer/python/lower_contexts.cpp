// Contexts and decorators that change the thread's dtype state: autocast, and custom_fwd.
#include <algorithm>
#include <set>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
bool is_autocast(const std::string& name) {
  return name == "torch.autocast" || name == "torch.amp.autocast" || name == "torch.cuda.amp.autocast" ||
         name == "torch.cpu.amp.autocast" || name == "torch.amp.autocast_mode.autocast" ||
         name == "torch.cuda.amp.autocast_mode.autocast";
}
bool is_custom_fwd(const std::string& name) {
  return name == "torch.cuda.amp.custom_fwd" || name == "torch.amp.custom_fwd";
}
}  // namespace

void FunctionLowering::autocast(const std::string& name, const std::vector<Given>& all) {
  const bool has_device = name == "torch.autocast" || name.starts_with("torch.amp.");
  std::string device = name.find(".cpu.") != std::string::npos ? "cpu" : has_device ? "" : "cuda";
  ValueId on = 0, dtype = 0;
  std::size_t place = has_device ? 0 : 1;
  for (const Given& each : all) {
    const std::size_t at = each.name.empty() ? place++ : 99;
    if (at == 0 || each.name == "device_type") {
      // A device that is computed may be any: the one that is looked at.
      device = literal(each.node).value_or("");
    } else if (each.name == "dtype" || (has_device ? at == 1 : at == 2)) {
      dtype = value(each.node);
    } else if (each.name == "enabled" || (has_device ? at == 2 : at == 1)) {
      on = value(each.node);
    }
  }
  Arguments arguments = {{"on", on ? on : builder_.constant(true)}};
  if (dtype) arguments.push_back({"dtype", dtype});
  builder_.effect(Op::kSetAutocast, device, std::move(arguments));
}

bool FunctionLowering::enter_context(const Node& manager) {
  const Node call = manager.is("call") ? manager : Node();
  Entity callee = resolve(call ? call.field("function") : manager);
  std::vector<Given> arguments = call ? given(call) : std::vector<Given>();
  // autocast = partial(torch.autocast, "cuda")
  if (callee.kind == Entity::Kind::kValue && makes_function(callee.value, *callee.file)) {
    std::vector<Given> first = given(callee.value);
    const std::string text(first.empty() ? "" : first[0].node.text());
    const Entity of = first.empty() ? Entity() : unit_.modules().named(*callee.file, text);
    if (of.kind == Entity::Kind::kLibrary && is_autocast(of.name)) {
      first.erase(first.begin());
      first.insert(first.end(), arguments.begin(), arguments.end());
      arguments = std::move(first);
      callee = of;
    }
  }
  if (callee.kind != Entity::Kind::kLibrary || !is_autocast(callee.name)) return false;
  const Builder::At at(builder_, position(manager));
  contexts_.push_back(builder_.value(Op::kSaveState, "", {}));
  autocast(callee.name, arguments);
  return true;
}

// A decorator of the project that has to do with autocast: it may be on or off behind it.
bool FunctionLowering::enter_unknown(const FunctionDefinition& decorator) {
  if (decorator.node.text().find("autocast") == std::string_view::npos) return false;
  contexts_.push_back(builder_.value(Op::kSaveState, "", {}));
  enter_perhaps();
  return true;
}

void FunctionLowering::enter_perhaps() {
  builder_.effect(Op::kSetAutocast, "", {{"on", builder_.unknown()}, {"dtype", builder_.unknown()}});
}

// What a name is assigned, in this function or by the module; nothing where that is not all in sight.
std::vector<Node> FunctionLowering::sources_of(const Node& name) const {
  if (!name.is("identifier") || global_file_) return {};
  const std::string text(name.text());
  if (locals_.contains(text)) {
    const auto known = assigned_.find(text);
    if (known == assigned_.end()) return {};
    const bool all =
        std::all_of(known->second.begin(), known->second.end(), [](const Node& each) { return bool(each); });
    return all ? known->second : std::vector<Node>();
  }
  const Entity entity = resolve(name);
  if (entity.kind == Entity::Kind::kValue && entity.file == &unit_.file()) return {entity.value};
  return {};
}

namespace {
bool speaks_of_autocast(const Node& node) { return node.text().find("autocast") != std::string_view::npos; }

// Methods of objects that are contexts and leave dtypes alone.
bool is_harmless(std::string_view method) {
  static const std::set<std::string_view> known = {"no_sync", "accumulate", "open", "profile", "stream"};
  return known.contains(method);
}
}  // namespace

// What a context's code speaks of, where it is a function or class in sight.
bool FunctionLowering::may_be_autocast(const Node& manager, int depth) const {
  constexpr int kMaxSources = 4;
  if (speaks_of_autocast(manager)) return true;
  const Entity entity = resolve(manager.is("call") ? manager.field("function") : manager);
  if (entity.kind == Entity::Kind::kFunction) return speaks_of_autocast(entity.function->node);
  if (entity.kind == Entity::Kind::kClass) return speaks_of_autocast(entity.class_definition->node);
  const std::vector<Node> sources = sources_of(manager);
  return depth < kMaxSources && std::any_of(sources.begin(), sources.end(), [&](const Node& each) {
           return may_be_autocast(each, depth + 1);
         });
}

bool FunctionLowering::may_change_dtypes(const Node& manager, int depth) const {
  constexpr int kMaxSources = 4;
  if (depth > kMaxSources) return true;
  if (manager.is("parenthesized_expression")) return may_change_dtypes(manager.child(0), depth + 1);
  if (manager.is("conditional_expression"))
    return may_change_dtypes(manager.child(0), depth + 1) || may_change_dtypes(manager.child(2), depth + 1);
  const std::vector<Node> sources = sources_of(manager);
  if (!sources.empty()) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const Node& each) { return may_change_dtypes(each, depth + 1); });
  }
  if (!manager.is("call")) return true;
  const Node callee = manager.field("function");
  const Entity entity = resolve(callee);
  const auto speaks = [](const Node& body) { return body.text().find("dtype") != std::string_view::npos; };
  if (entity.kind == Entity::Kind::kLibrary) return false;
  if (entity.kind == Entity::Kind::kFunction) return speaks(entity.function->node);
  if (entity.kind == Entity::Kind::kClass) return speaks(entity.class_definition->node);
  if (callee.is("attribute")) return !is_harmless(callee.field("attribute").text());
  return !callee.is("identifier") || entity || knows(std::string(callee.text()));  // `open` and its like
}

// A context that is no autocast as it is written: it may be one all the same, by a variable or a function of
// the project. Of what nothing is known it may be so where the program's own code decides on autocast.
void FunctionLowering::enter_other(const Node& manager) {
  const bool perhaps = may_be_autocast(manager), unseen = may_change_dtypes(manager);
  const bool holds_others = manager.text().find("ExitStack") != std::string_view::npos;
  if (perhaps || holds_others || unseen) contexts_.push_back(builder_.value(Op::kSaveState, "", {}));
  if (perhaps) return enter_perhaps();
  value(manager);
  if (unseen) builder_.op(std::string(kUnseenContext), {});
}

// torch.autocast(...).__enter__(), and what a stack of contexts is handed: from there on.
std::optional<ValueId> FunctionLowering::entered_by_hand(const Node& function,
                                                         const std::vector<Given>& arguments) {
  const std::string_view name = function.field("attribute").text();
  const bool by_hand = name == "__enter__";
  if (!by_hand && name != "__exit__" && (name != "enter_context" || arguments.size() != 1))
    return std::nullopt;
  Node context = name == "enter_context" ? arguments[0].node : function.field("object");
  const std::vector<Node> sources = sources_of(context);
  if (sources.size() == 1) context = sources[0];
  const Entity callee = context.is("call") ? resolve(context.field("function")) : Entity();
  if (name == "__exit__") {
    if (speaks_of_autocast(context)) enter_perhaps();
    return builder_.none();
  }
  if (callee.kind == Entity::Kind::kLibrary && is_autocast(callee.name)) {
    autocast(callee.name, given(context));
  } else if (speaks_of_autocast(context)) {
    enter_perhaps();
  } else {
    if (callee.kind != Entity::Kind::kLibrary) builder_.op(std::string(kUnseenContext), {});
    return std::nullopt;
  }
  return builder_.unknown();
}

bool FunctionLowering::enter_decorators() {
  bool entered = false;
  for (const Node& each : definition_.decorators) {
    const Node what = each.child(0);
    const Entity callee = resolve(what.is("call") ? what.field("function") : what);
    if (callee.kind == Entity::Kind::kValue) entered = enter_context(what) || entered;
    // What a wrapper does around the body is seen where it runs it.
    const bool is_run = std::any_of(definition_.wrappers.begin(), definition_.wrappers.end(),
                                    [&](const Node& wrapper) { return wrapper.range() == each.range(); });
    if (callee.kind == Entity::Kind::kFunction && !is_run)
      entered = enter_unknown(*callee.function) || entered;
    if (callee.kind != Entity::Kind::kLibrary) continue;
    if (is_autocast(callee.name)) {
      entered = enter_context(what) || entered;
    } else if (is_custom_fwd(callee.name) && what.is("call")) {
      // cast_inputs: autocast is off in there, and floating inputs are cast where it was on.
      for (const Given& one : given(what)) {
        if (one.name != "cast_inputs" || one.node.is("none")) continue;
        contexts_.push_back(builder_.value(Op::kSaveState, "", {}));
        builder_.effect(Op::kSetAutocast, "cuda", {{"on", builder_.constant(false)}});
        for (const auto& [name, variable] : std::map(variables_)) {
          if (name != self_name_) store(name, builder_.unknown());
        }
        entered = true;
      }
    }
  }
  return entered;
}

// Restores what was before the contexts above that depth; they stay open for the code behind.
void FunctionLowering::leave_contexts(std::size_t to_depth) {
  if (contexts_.size() > to_depth && builder_.open())
    builder_.effect(Op::kRestoreState, "", {{"", contexts_[to_depth]}});
}

void FunctionLowering::with_statement(const Node& node) {
  const std::size_t before = contexts_.size();
  for (const Node& clause : node.children()) {
    if (!clause.is("with_clause")) continue;
    for (const Node& item : clause.children()) {
      Node manager = item.field("value");
      Node name;
      if (manager.is("as_pattern")) {
        name = manager.field("alias").child(0);
        manager = manager.child(0);
      }
      while (manager.is("parenthesized_expression")) manager = manager.child(0);
      const std::vector<Node> sources = sources_of(manager);
      const bool is_known = enter_context(manager) || (sources.size() == 1 && enter_context(sources[0]));
      const std::optional<ValueId> entered = is_known ? std::nullopt : enter_generator(manager);
      if (!is_known && !entered) enter_other(manager);
      if (name) assign(name, entered ? *entered : builder_.unknown());
    }
  }
  block(node.field("body"));
  leave_contexts(before);
  contexts_.resize(before);
}

}  // namespace dtype_guard::python
