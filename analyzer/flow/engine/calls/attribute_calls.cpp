// Calls of what an object has by a name, which is known where it runs: methods along the bases, library
// modules, functions that a field holds.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/calls.h"
#include "analyzer/flow/engine/calls/held_function.h"
#include "analyzer/flow/engine/held_values.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::string_view kItself = name_of(Named::kCallOfObject), kForward = name_of(Named::kForward);

bool leaves_dtypes(const Instruction& call, std::string_view method) {
  return is_named(Named::kLeavesDtypes, method) &&
         std::none_of(call.args.begin(), call.args.end(),
                      [](const Argument& each) { return is_named(Named::kTakesOverState, each.name); });
}

// What one of several receivers gives is there where that receiver is.
Value where(const Value& given, SymbolSetId condition, SymbolSets& symbols) {
  std::vector<Alternative> out = left_under(given, condition, symbols).alternatives();
  for (Alternative& each : out) each.symbols = symbols.unite(each.symbols, condition);
  return Value(std::move(out));
}
}  // namespace

// What an object holds by the name of the call comes before its methods, and is called in its place; bottom
// where it holds nothing.
Value held_by_name(const Value& receiver, const Instruction& call, const State& state, Identities& ids) {
  std::string_view name = call.name;
  name.remove_prefix(kAttributeCall.size());
  name = name.substr(0, name.find("::"));
  const Alternative* one = name == kItself ? nullptr : receiver.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (!object) return {};
  const auto field = object->cells.find(ids.field(std::string(name)));
  return field == object->cells.end() ? Value() : field->second;
}

// None runs nothing: it throws.
Calls::Callees Calls::callees_by_attribute(const Activation& activation, const Instruction& instruction,
                                           State& state) {
  Callees out;
  out.by_attribute = true;
  std::string_view name = instruction.name;
  name.remove_prefix(kAttributeCall.size());
  name = name.substr(0, name.find("::"));
  Value receiver = argument(state, instruction, 0);
  if (const Alternative* one = receiver.single(); one && one->kind == Kind::kReference)
    receiver = memory_.read(state, Location{one->object, one->key});
  const auto add = [&](std::uint32_t function, const Alternative& of) {
    if (std::find(out.functions.begin(), out.functions.end(), function) == out.functions.end())
      out.functions.push_back(function);
    out.receivers[function].push_back(of);
  };
  if (const Value held = held_by_name(receiver, instruction, state, ids_); !held.is_bottom()) {
    receiver = held;
    name = kItself;
  }
  const bool itself = name == kItself;
  for (const Alternative& each : receiver) {
    if (each.kind == Kind::kNone) continue;  // a call of nothing raises
    if (itself && each.kind == Kind::kClosure) {
      add(each.function, each);
      continue;
    }
    if (itself && each.kind == Kind::kUnknown) {
      out.or_unknown = true;
      continue;
    }
    const HeapObject* one = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!one || one->type.empty()) {
      out.unknown = true;
      continue;
    }
    const std::string type = one->type;
    if (is_named(Named::kHooksForward, name)) state.change(each.object).type = {};
    const bool forwards = itself || name == kForward;
    if (forwards && (find_module_type(type) || type == kSequential)) {
      const bool is_only_one = std::all_of(receiver.begin(), receiver.end(), [&](const Alternative& other) {
        return other.kind == Kind::kNone || other.object == each.object;
      });
      // What one layer does not refuse another may: nothing is learnt from the one for the other.
      State of_this_one = state;
      State& where_it_runs = is_only_one || type == kSequential ? state : of_this_one;
      const auto given = modules_.library_module_call(activation, instruction, each, where_it_runs);
      out.unknown = out.unknown || !given;
      const SymbolSetId condition = is_only_one ? 0 : each.symbols;
      if (given) out.given = join(out.given, where(*given, condition, symbols_), symbols_);
      continue;
    }
    std::vector<std::uint32_t> methods =
        program_.classes.inherited(type, itself ? kForward : name, FunctionIndex::kAnyNumber, root_.unit);
    if (methods.empty() && itself)
      methods = program_.classes.inherited(type, kItself, FunctionIndex::kAnyNumber, root_.unit);
    if (methods.size() == 1) {
      add(methods.front(), each);
    } else if (methods.empty() && is_named(Named::kGivesModuleBack, name) &&
               registrations_.is_module_type(type)) {
      out.given = join(out.given, Value(each), symbols_);
    } else if (methods.empty() && leaves_dtypes(instruction, name) && registrations_.is_module_type(type)) {
      const Value given = Value::unknown(ids_.symbol(activation.context, &instruction));
      out.given = join(out.given, given, symbols_);
    } else {
      out.unknown = true;
    }
  }
  // Functions are what some way has chosen; which of many classes an object is made of goes with what it is
  // handed, by decisions that are made elsewhere.
  const bool is_function = std::all_of(receiver.begin(), receiver.end(), [&](const Alternative& each) {
    const bool runs = each.kind == Kind::kClosure && !stands_for_class(index_.function(each.function));
    return runs || each.kind == Kind::kUnknown || each.kind == Kind::kNone;
  });
  if (out.or_unknown && !is_function) out.unknown = true;
  if (out.functions.empty() && out.given.is_bottom()) out.unknown = true;
  if (out.unknown) out.functions.clear();
  return out;
}

}  // namespace dtype_guard::flow
