// Contexts and decorators that change the thread's dtype state: autocast, and custom_fwd.
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
  builder_.effect(Op::kSetAutocast, "", {{"on", builder_.unknown()}, {"dtype", builder_.unknown()}});
  return true;
}

bool FunctionLowering::enter_decorators() {
  bool entered = false;
  for (const Node& each : definition_.decorators) {
    const Node what = each.child(0);
    const Entity callee = resolve(what.is("call") ? what.field("function") : what);
    if (callee.kind == Entity::Kind::kValue) entered = enter_context(what) || entered;
    if (callee.kind == Entity::Kind::kFunction) entered = enter_unknown(*callee.function) || entered;
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
      if (!enter_context(manager)) {
        // A conditional context may be an autocast that is on or not.
        const bool perhaps = manager.text().find("autocast") != std::string_view::npos;
        if (perhaps) {
          contexts_.push_back(builder_.value(Op::kSaveState, "", {}));
          builder_.effect(Op::kSetAutocast, "", {{"on", builder_.unknown()}, {"dtype", builder_.unknown()}});
        } else {
          value(manager);
        }
      }
      if (name) assign(name, builder_.unknown());
    }
  }
  block(node.field("body"));
  leave_contexts(before);
  contexts_.resize(before);
}

}  // namespace dtype_guard::python
